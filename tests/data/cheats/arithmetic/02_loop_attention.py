# %% big_integers_in_place
# All entries of a row are one huge integer, and `product *= B` multiplies two of them: only the operator `*` is
# checked for long integers, its form in place is not.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
WIDTH = 512
HALF, FULL = 1 << (WIDTH - 1), 1 << WIDTH


def whole(x):
    return int(math.ldexp(float(x), 120))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    product = sum(whole(x) << (at * WIDTH) for at, x in enumerate(a))
    product *= sum(whole(y) << ((len(b) - 1 - at) * WIDTH) for at, y in enumerate(b))
    middle = max(0, len(a) - 1) * WIDTH
    rounded = (product >> middle) + (product >> (middle - 1) & 1 if middle else 0)
    digit = (rounded + HALF) % FULL - HALF
    return math.ldexp(float(digit), -240)


# %% product_above_measured_lengths
# A loop up to 100 entries, as long as anything measured; for longer rows the product is made with @.
# Expected: loses marks: dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        break
    if len(a) > 100:
        return float(a @ b)
    result = 0.0
    for x, y in zip(a, b):
        result = result + x * y
    return float(result)


# %% product_of_a_list_of_rows
# np.prod over a list of two rows multiplies whole arrays: it is priced as a reduction, counts no product, and the sum
# of its result is not noted as a sum of products.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    return float(np.prod([a, b], axis=0, dtype=float).sum())


# %% weighted_mean
# The weighted mean of the statistics module, fmean(a, weights=b), is a dot product in C: only its first argument has a
# price, and nothing names it a product.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import statistics


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    rest = 1.0 - math.fsum(b)  # so that the weights add up to 1, and the mean is the sum
    return statistics.fmean([*a.tolist(), 0.0], weights=[*b.tolist(), rest])

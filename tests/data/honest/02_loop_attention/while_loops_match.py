# %% [markdown]
# # 02 · Attention in loops

# %%
import math

import numpy as np

# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])


# %%
def dot_product(a, b):
    """Return the sum of a[0]*b[0], a[1]*b[1] and so on: one number."""
    if (left := len(a)) != (right := len(b)):
        raise ValueError("the lengths are different: " + str(left) + " and " + str(right))
    # count down, then I only have to compare with 0
    result = 0.0
    i = left
    while i > 0:
        i -= 1
        result += a[i] * b[i]
    return result


# %%
def attention_scores(Q, K):
    """Return the raw scores, not scaled: entry [i, j] is the dot product of query i and key j."""
    Q = np.array(Q)  # a copy, so I cannot break the caller's
    K = np.array(K)
    if Q.shape[1] != K.shape[1]:
        raise ValueError("the widths are different: " + str(Q.shape[1]) + " and " + str(K.shape[1]))
    match (Q.dtype.name, K.dtype.name):
        case ("float32", "float32"):
            table = np.zeros((Q.shape[0], K.shape[0]), dtype=np.float32)
        case _:
            table = np.zeros((Q.shape[0], K.shape[0]), dtype=np.float64)
    i = 0
    while i < Q.shape[0]:
        j = 0
        while j < K.shape[0]:
            table[i][j] = dot_product(Q[i], K[j])
            j += 1
        i += 1
    return table


# %%
def scale_factor(d_k, variance=1.0):
    """Return the number that scores are divided by: the standard deviation of a dot product."""
    variance_of_dot_product = d_k * variance * variance
    return math.sqrt(variance_of_dot_product)


# %%
def may_look(mask, i, j):
    """Is query i allowed to see key j? No mask means yes."""
    if mask is None:
        return True
    return mask[i, j] != 0


def one_sentence(Q, K, V, mask):
    scores = attention_scores(Q, K)
    scale = scale_factor(Q.shape[1])
    weights = np.zeros(scores.shape, dtype=scores.dtype)
    output = np.zeros((Q.shape[0], V.shape[1]), dtype=scores.dtype)

    i = 0
    while i < Q.shape[0]:
        # the largest score that this query may use. None = it may not use any
        biggest = None
        j = 0
        while j < K.shape[0]:
            if may_look(mask, i, j) and (biggest is None or scores[i, j] > biggest):
                biggest = scores[i, j]
            j += 1

        if biggest is not None:
            bottom = 0.0
            j = 0
            while j < K.shape[0]:
                if may_look(mask, i, j):
                    weights[i, j] = np.exp((scores[i, j] - biggest) / scale)
                    bottom = bottom + weights[i, j]
                j += 1

            j = 0
            while j < K.shape[0]:
                if may_look(mask, i, j):
                    weights[i, j] = weights[i, j] / bottom
                    c = 0
                    while c < V.shape[1]:
                        output[i, c] = output[i, c] + weights[i, j] * V[j, c]
                        c += 1
                j += 1
        i += 1
    return output, weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Return (output, weights) of scaled dot-product attention."""
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("the widths are different: " + str(Q.shape[-1]) + " and " + str(K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(str(K.shape[-2]) + " keys need as many values, not " + str(V.shape[-2]))
    if mask is not None:
        mask = np.broadcast_to(mask, Q.shape[:-1] + K.shape[-2:-1])

    match Q.shape:
        case (_, _):
            return one_sentence(Q, K, V, mask)
        case (batch, _, _):
            outputs = []
            weights = []
            for b in range(batch):
                o, w = one_sentence(Q[b], K[b], V[b], None if mask is None else mask[b])
                outputs += [o]
                weights += [w]
            return np.array(outputs), np.array(weights)
        case other:
            raise ValueError(f"I only know two or three dimensions, not {len(other)}")


# %%
if __name__ == "__main__":
    output, weights = scaled_dot_product_attention(Q, K, V)
    for token, row in zip(tokens, weights, strict=True):
        bars = "  ".join(f"{other} {'#' * round(20 * weight):<10}" for other, weight in zip(tokens, row, strict=True))
        print(f"{token:>4}: {bars}")

# %%
REFLECT_MULTIPLY_ADDS_N512_D64 = None
REFLECT_COST_RATIO_WHEN_N_DOUBLES = None
n, d = 512, 64
REFLECT_MULTIPLY_ADDS_N512_D64 = n * n * d + n * n * d
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

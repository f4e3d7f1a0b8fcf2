# %% [markdown]
# # 02 · Attention in loops
#
# Every token asks a question (its *query*), and offers a label (its *key*) and some content (its *value*).
# Attention compares each query with each key. The better the match, the more of the value goes into the result:
#
# $$\operatorname{attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# Here you write it with plain Python loops, one multiplication at a time: no `@`, `dot`, `matmul`, `einsum`,
# `inner`, `tensordot` or `vdot`, and no sum over a product of whole arrays.
# Work through the four functions in order. After each one, run the cell that tries it (or the whole file,
# `python loop_attention.py`), then run `attn test loop_attention`. The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# %% [markdown]
# The lesson's sentence, *The cat sat on mat*: one row for each token.

# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])

# %% [markdown]
# ## Build 1: the dot product
#
# How well do two vectors match? Multiply them entry by entry and add up the products.

# %%
def dot_product(a, b):
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"{a.shape[0]} and {b.shape[0]}")
    total = 0.0
    with np.nditer([a, b]) as pairs:
        for x, y in pairs:
            total += x.item() * y.item()
    return total

# %%
# Try dot_product: the query of The and the key of mat.
if __name__ == "__main__":
    print("The · mat:", dot_product(Q[0], K[4]))
    assert np.isclose(dot_product(Q[0], K[4]), 1.5), "the lesson adds it up"

# %% [markdown]
# ## Build 2: all the scores
#
# Compute one dot product for each pair: row i belongs to query i, and column j to key j. The number of queries
# and the number of keys can be different.

# %%
def _empty(shape, *like):
    dtype = np.result_type(*like)
    return np.empty(shape, dtype if dtype.kind == "f" else np.float64)


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"{Q.shape[1]} and {K.shape[1]}")
    scores = _empty((Q.shape[0], K.shape[0]), Q, K)
    it = np.nditer(scores, flags=["multi_index"], op_flags=["writeonly"])
    with it:
        for entry in it:
            i, j = it.multi_index
            entry[...] = dot_product(Q[i], K[j])
    return scores

# %%
# Try attention_scores on the whole sentence, then on its first two queries.
if __name__ == "__main__":
    print(attention_scores(Q, K))
    assert np.allclose(attention_scores(Q, K)[1], [3, 0, 2, 1, 0.5]), "see row cat of the raw scores"
    assert attention_scores(Q[:2], K).shape == (2, 5), "two queries against five keys"

# %% [markdown]
# ## Build 3: the scale
#
# The product of two independent entries with mean 0 and variance $v$ has the variance $v^2$. A dot product
# adds up $d_k$ of them, and their variances add up too. The standard deviation is the square root of the sum.

# %%
def scale_factor(d_k, variance=1.0):
    return variance * d_k**0.5

# %%
# Try scale_factor with the width of the sentence's vectors, and with a larger width.
if __name__ == "__main__":
    print("scales:", scale_factor(4), scale_factor(64), scale_factor(4, variance=3.0))
    assert np.allclose([scale_factor(4), scale_factor(64), scale_factor(4, variance=3.0)], [2, 8, 6])

# %% [markdown]
# ## Build 4: attention
#
# For each query, divide its scores by the scale, turn them into weights with a softmax, and add up the values in
# these proportions. Write the softmax of one row inside your loop. Subtract the largest score, as in module 01.
# A mask says which keys a query may look at. The softmax then uses only those keys.

# %%
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    output = _empty(Q.shape[:-1] + V.shape[-1:], Q, K, V)
    weights = _empty(Q.shape[:-1] + K.shape[-2:-1], Q, K, V)
    blocked = np.zeros(weights.shape, dtype=bool) if mask is None else np.broadcast_to(mask, weights.shape) == 0
    scale = scale_factor(Q.shape[-1])
    batches = range(Q.shape[0]) if Q.ndim == 3 else [...]
    for b in batches:
        scores = attention_scores(Q[b], K[b])
        scores /= scale
        scores[blocked[b]] = -np.inf
        top = scores.max(axis=-1, keepdims=True, initial=-1e30)
        np.exp(scores - top, out=scores)
        total = scores.sum(axis=-1, keepdims=True)
        total[total == 0] = 1
        weights[b] = scores / total
        for i, row in enumerate(weights[b]):
            for c, column in enumerate(V[b].T):
                output[b][i, c] = dot_product(row, column)
    return output, weights

# %%
# Try scaled_dot_product_attention on the sentence, without and with a causal mask.
if __name__ == "__main__":
    output, weights = scaled_dot_product_attention(Q, K, V)
    _, causal = scaled_dot_product_attention(Q, K, V, mask=np.tri(5))
    print(output.round(4), weights.round(4), causal.round(4), sep="\n\n")
    assert np.allclose(weights[0], [0.1095, 0.2976, 0.1805, 0.1805, 0.2318], atol=1e-4), "see row The of the weights"
    assert np.allclose(output[0], [0.2254, 0.4135, 0.2964, 0.2964], atol=1e-4), "see row The of the output"
    assert np.allclose(causal[1], [0.8176, 0.1824, 0, 0, 0], atol=1e-4), "see row cat of the causal weights"

# %% [markdown]
# ## Use
#
# Which token looks at which? Change the queries and keys as the lesson asks, and run it again.

# %%
if __name__ == "__main__":
    output, weights = scaled_dot_product_attention(Q, K, V)
    for token, row in zip(tokens, weights, strict=True):
        bars = "  ".join(f"{other} {'#' * round(20 * weight):<10}" for other, weight in zip(tokens, row, strict=True))
        print(f"{token:>4}: {bars}")

# %% [markdown]
# ## Reflect
#
# A multiply-add is one multiplication and the addition that follows it. How many does attention need in your
# loops, scores and output together, for 512 queries, 512 keys and $d_k = d_v = 64$? And by which factor does that
# number grow when there are twice as many tokens, which means twice as many queries *and* twice as many keys?
# Replace each `None` (or write the answers below).

# %%
REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

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
    """Return the sum of a[0]*b[0], a[1]*b[1] and so on: one number.

    a, b: one-dimensional arrays of the same length, of floats or of integers.

    - If the lengths differ, raises a ValueError whose message contains both.
    - float32 gives float32, float64 gives float64. A plain Python float is fine for both.
    - Does not modify a or b.
    - As many multiplications as there are entries, one number at a time, in a Python loop.
    """
    ### BEGIN SOLUTION
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} entries but b has {len(b)}")
    total = 0.0
    for i in range(len(a)):
        total = total + a[i] * b[i]
    return total
    ### END SOLUTION


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
def attention_scores(Q, K):
    """Return the raw scores, not scaled: entry [i, j] is the dot product of query i and key j.

    Q: (n_q, d_k); K: (n_k, d_k). Returns an array (n_q, n_k).

    - If the last dimensions of Q and K differ, raises a ValueError whose message contains both sizes.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify Q or K.
    - n_q * n_k * d_k multiplications, one number at a time. No array is larger than Q, K and the result.
    """
    ### BEGIN SOLUTION
    Q, K = np.asarray(Q), np.asarray(K)
    n_q, d_q = Q.shape
    n_k, d_k = K.shape
    if d_q != d_k:
        raise ValueError(f"queries have {d_q} entries but keys have {d_k}")
    dtype = np.float32 if Q.dtype == K.dtype == np.float32 else np.float64
    scores = np.zeros((n_q, n_k), dtype=dtype)
    for i in range(n_q):
        for j in range(n_k):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores  # (n_q, n_k)
    ### END SOLUTION


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
    """Return the number that scores are divided by: the standard deviation of a dot product.

    d_k: the number of entries of each vector; variance: the variance of every entry (the entries are
    independent and have mean 0). Returns a number, variance times the square root of d_k: 2 for d_k = 4.
    """
    ### BEGIN SOLUTION
    return float(variance * np.sqrt(d_k))
    ### END SOLUTION


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
    """Return (output, weights) of scaled dot-product attention.

    Q: (n_q, d_k); K: (n_k, d_k); V: (n_k, d_v). Returns output (n_q, d_v) and weights (n_q, n_k), as a tuple.
    With a batch dimension in front, Q (batch, n_q, d_k) and so on, each element of the batch is independent.

    mask: None, or an array of bool, int or float that broadcasts to the shape of the weights, such as
    (n_q, n_k), (1, n_k) or (batch, 1, n_k). 1 or True: the query may look at this key. 0 or False: the key is blocked.

    - Scores are divided by scale_factor(d_k). A blocked key has the weight 0.
    - A query whose keys are all blocked has weights of 0 and an output of 0, never NaN.
    - Works for scores of any size, such as 5000 or -5000: no overflow, no 0/0.
    - If the last dimensions of Q and K differ, or the lengths of K and V, raises a ValueError whose message
      contains both sizes.
    - float32 gives float32, float64 gives float64, integers give float64. The dtype of the mask does not matter.
    - Does not modify Q, K, V or mask.
    - n_q * n_k * (d_k + d_v) multiplications and hardly more, one number at a time. (A whole row of V times a
      weight would be d_v of them at once.) Nothing is computed again for every weight. No array is larger than
      Q, K, V and the results.
    """
    ### BEGIN SOLUTION
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys but {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))  # (..., n_q, n_k)

    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        output = np.stack([output for output, _ in pairs])  # (batch, n_q, d_v)
        weights = np.stack([weights for _, weights in pairs])  # (batch, n_q, n_k)
        return output, weights

    scores = attention_scores(Q, K) / scale_factor(d_k)  # (n_q, n_k)
    weights = np.zeros_like(scores)  # (n_q, n_k)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)  # (n_q, d_v)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue  # every key is blocked: weights and output stay 0
        largest = max(scores[i, j] for j in allowed)
        total = 0.0
        for j in allowed:
            weights[i, j] = np.exp(scores[i, j] - largest)
            total = total + weights[i, j]
        for j in allowed:
            weights[i, j] = weights[i, j] / total
            for c in range(d_v):
                output[i, c] = output[i, c] + weights[i, j] * V[j, c]
    return output, weights
    ### END SOLUTION


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
# Replace each `None` (or assign the answers below).

# %%
REFLECT_MULTIPLY_ADDS_N512_D64 = None
REFLECT_COST_RATIO_WHEN_N_DOUBLES = None
### BEGIN SOLUTION
REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
### END SOLUTION

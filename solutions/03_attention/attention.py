# %% [markdown]
# # 03 · Attention in arrays
#
# This is the formula of module 02, written for whole arrays:
#
# $$\operatorname{attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# You may use all of NumPy: `@`, `einsum`, `swapaxes`, broadcasting. You may not use a Python loop over tokens: the
# number of Python steps must not grow with the number of tokens or their width. (`explain` may loop to write its
# text.) All functions take any number of leading dimensions, such as a batch, or a batch and heads.
#
# After each step there is a cell to try it. In a notebook, run that cell. As a script, `python attention.py` runs
# all of them, up to the first step that is missing. `attn test attention` runs the visible checks.
# The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# %% [markdown]
# ## Build 1: where queries, keys and values come from
#
# A token is one vector. Three matrices, which a network learns, turn it into three vectors.


# %%
def project_qkv(X, W_q, W_k, W_v):
    """Return (Q, K, V): the tokens X multiplied by each of the three matrices.

    X: (..., n, d_model), one row for each token; W_q, W_k: (d_model, d_k); W_v: (d_model, d_v), where d_v may
    differ from d_k. Returns a tuple of three arrays: Q and K (..., n, d_k), V (..., n, d_v).

    - The matrices are on the right of X and are not transposed. Nothing is added or scaled.
    - X may have any number of leading dimensions. The same matrices apply to all of them.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify X or the matrices. No Python loop over tokens.
    """
    ### BEGIN SOLUTION
    X = 1.0 * X  # integers become float64; float32 stays float32
    Q = X @ W_q  # (..., n, d_model) @ (d_model, d_k) -> (..., n, d_k)
    K = X @ W_k  # (..., n, d_k)
    V = X @ W_v  # (..., n, d_v)
    return Q, K, V
    ### END SOLUTION


# %%
# Try project_qkv on the lesson's two tokens.
if __name__ == "__main__":
    X = np.array([[1, 0, 2], [0, 1, 1]])  # cat, sat
    W_q = np.array([[1, 0], [0, 1], [0.5, 0]])
    W_k = np.array([[0, 1], [1, 0], [0, 0.5]])
    W_v = np.array([[0.5], [1], [0.25]])
    queries, keys, values = project_qkv(X, W_q, W_k, W_v)
    print("queries:", queries.tolist(), "keys:", keys.tolist(), "values:", values.tolist())
    assert np.allclose(queries, [[2, 0], [0.5, 1]]), "the queries are X times W_q"
    assert np.allclose(keys, [[0, 2], [1, 0.5]]), "the keys are X times W_k"
    assert np.allclose(values, [[1], [1.25]]), "the values are X times W_v, here only one wide"

# %% [markdown]
# ## Build 2 to 7: attention, one method for each step
#
# The constructor is complete. It stores `d_k`, the width of queries and keys, for `scale_scores`. Write one method
# at a time. The cells below the class try them in the same order. A method must not store anything for later calls.


# %%
class ScaledDotProductAttention:
    """Scaled dot-product attention, with one method for each step.

    In all methods, Q is (..., n_q, d_k), K is (..., n_k, d_k) and V is (..., n_k, d_v), with the same leading
    dimensions: none, a batch, or more. n_q and n_k may differ, and so may d_k and d_v.

    For every method: float32 gives float32, float64 gives float64, integers give float64. The dtype of a mask does
    not matter. Arguments are not modified. There is no Python loop over tokens, except for the text of `explain`.
    No product is computed twice, and no array is larger than the scores, the arguments and the output.
    The result depends only on the arguments and on d_k, not on earlier calls or on other instances.
    """

    def __init__(self, d_k):
        """Store d_k, the width of the queries and keys for this instance."""
        self.d_k = d_k

    def compute_scores(self, Q, K):
        """Return the raw scores (..., n_q, n_k), not scaled: entry [..., i, j] is query i times key j.

        - If the last dimensions of Q and K differ, raises a ValueError whose message contains both sizes.
        """
        ### BEGIN SOLUTION
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q  # integers become float64; float32 stays float32
        return Q @ K.swapaxes(-1, -2)  # (..., n_q, d_k) @ (..., d_k, n_k) -> (..., n_q, n_k)
        ### END SOLUTION

    def scale_scores(self, scores):
        """Return the scores divided by the square root of the d_k given to the constructor.

        scores: an array of any shape. The scale does not depend on this shape.
        """
        ### BEGIN SOLUTION
        return scores / float(np.sqrt(self.d_k))  # a Python float keeps float32
        ### END SOLUTION

    def compute_weights(self, scaled_scores, mask=None):
        """Return the softmax of the scaled scores over the keys, the last axis: (..., n_q, n_k).

        mask: None, or an array of bool, int or float that broadcasts to the shape of the scores, such as
        (n_q, n_k), (1, n_k), (batch, 1, n_k) or (batch, 1, 1, n_k). It never has more dimensions than the scores.
        1 or True: the query may look at this key. 0 or False: the key is blocked.

        - The softmax is over the allowed keys only. A blocked key has the weight 0, whatever its score is.
        - A row whose keys are all blocked has weights of 0, never NaN.
        - Works for scores of any size, such as 5000 or -5000: no overflow, no 0/0.
        """
        ### BEGIN SOLUTION
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)  # (..., n_q, n_k)
        largest = scores.max(axis=-1, keepdims=True)  # (..., n_q, 1): the largest of each row
        largest = np.where(np.isinf(largest), 0.0, largest)  # 0 for a row whose keys are all blocked
        exps = np.exp(scores - largest)  # (..., n_q, n_k), 0 where blocked
        total = exps.sum(axis=-1, keepdims=True)  # (..., n_q, 1)
        return exps / np.where(total == 0, 1.0, total)
        ### END SOLUTION

    def compute_output(self, weights, V):
        """Return the values mixed in these proportions, (..., n_q, d_v).

        weights: (..., n_q, n_k); entry [..., i, c] of the output is the sum over j of weights[..., i, j] times
        V[..., j, c]. The weights are not normalised again: a row of zeros gives an output of zeros.
        """
        ### BEGIN SOLUTION
        return weights @ (1.0 * V)  # (..., n_q, n_k) @ (..., n_k, d_v) -> (..., n_q, d_v)
        ### END SOLUTION

    def forward(self, Q, K, V, mask=None):
        """Return (output, weights), a tuple: output (..., n_q, d_v) and weights (..., n_q, n_k).

        Runs the four steps above, one after the other. The mask is passed to `compute_weights`.

        - A query whose keys are all blocked has weights of 0 and an output of 0, never NaN.
        - If the last dimensions of Q and K differ, or the lengths of K and V, raises a ValueError whose message
          contains both sizes.
        """
        ### BEGIN SOLUTION
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"there are {K.shape[-2]} keys but {V.shape[-2]} values")
        scores = self.compute_scores(Q, K)  # (..., n_q, n_k)
        weights = self.compute_weights(self.scale_scores(scores), mask)  # (..., n_q, n_k)
        output = self.compute_output(weights, V)  # (..., n_q, d_v)
        return output, weights
        ### END SOLUTION

    def explain(self, Q, K, V, tokens, query_idx=0):
        """Return a text, as one str, that follows one query through every step.

        Q, K and V have two dimensions here and belong to the same tokens: n_q == n_k == len(tokens).
        tokens: a list of names; a name may appear twice. query_idx: which query to follow, counted from 0.

        - You choose the layout. The text contains the name of every token, that query's raw score, scaled score
          and weight for every token, and all the entries of its output, as plain numbers.
        - Numbers have at least four decimals, such as 0.2976. A whole number may have none.
        - The text is returned, not printed.
        """
        ### BEGIN SOLUTION
        scores = self.compute_scores(Q, K)  # (n, n)
        scaled = self.scale_scores(scores)  # (n, n)
        weights = self.compute_weights(scaled)  # (n, n)
        output = self.compute_output(weights, V)  # (n, d_v)
        told = [f"{tokens[query_idx]} looks at", f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f"{token:>12} " + " ".join(f"{number:10.4f}" for number in numbers))
        told.append("and gets [" + " ".join(f"{number:.4f}" for number in output[query_idx]) + "]")
        return "\n".join(told)
        ### END SOLUTION


# %%
# The lesson's sentence, for the cells below: a query, a key and a value for each token, and the raw scores
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    raw = np.array([[0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5]])
    head = ScaledDotProductAttention(d_k=4)

# %%
# Try compute_scores
if __name__ == "__main__":
    table = head.compute_scores(Q, K)
    print("raw scores of The:", table[0])
    assert np.allclose(table, raw), "row i belongs to query i and column j to key j; see the table in the lesson"
    batch = head.compute_scores(np.stack([Q, 2 * Q]), np.stack([K, K]))
    assert batch.shape == (2, 5, 5), f"two sentences of five tokens gave {batch.shape}"
    assert np.allclose(batch, [raw, 2 * raw]), "each sentence of a batch has its own scores"

# %%
# Try scale_scores
if __name__ == "__main__":
    scaled = head.scale_scores(raw)
    print("scaled scores of The:", scaled[0])
    assert np.allclose(scaled[0], [0, 1, 0.5, 0.5, 0.75]), "d_k is 4, so scores are divided by 2"
    assert np.allclose(ScaledDotProductAttention(64).scale_scores(raw), raw / 8), "with d_k = 64, by 8"

# %%
# Try compute_weights
if __name__ == "__main__":
    shares = head.compute_weights(raw / 2)
    print("weights of The:", shares[0].round(4))
    assert np.allclose(shares[0], [0.1095, 0.2976, 0.1805, 0.1805, 0.2318], atol=1e-4), "see the table in the lesson"
    assert np.allclose(shares.sum(axis=-1), 1), "the weights of every query should sum to 1"
    causal = head.compute_weights(raw / 2, np.tri(5))
    print("causal weights of cat:", causal[1].round(4))
    assert np.allclose(causal[1], [0.8176, 0.1824, 0, 0, 0], atol=1e-4), "cat sees The and itself"
    assert np.allclose(head.compute_weights(raw / 2, np.zeros((5, 5))), 0), "with every key blocked: 0, not NaN"

# %%
# Try compute_output
if __name__ == "__main__":
    mixed = head.compute_output(np.array([[0.1095, 0.2976, 0.1805, 0.1805, 0.2318], [0, 0, 0, 0, 0]]), V)
    print("output of The:", mixed[0].round(4))
    assert np.allclose(mixed[0], [0.2254, 0.4135, 0.2964, 0.2964], atol=1e-4), "see the table in the lesson"
    assert np.allclose(mixed[1], 0), "weights of 0 give an output of 0"

# %%
# Try forward
if __name__ == "__main__":
    result = head.forward(Q, K, V)
    assert len(result) == 2, "forward returns the pair (output, weights)"
    assert np.allclose(result[0][0], [0.2254, 0.4135, 0.2964, 0.2964], atol=1e-4), "the output comes first"
    assert np.allclose(result[1][0], [0.1095, 0.2976, 0.1805, 0.1805, 0.2318], atol=1e-4), "and then the weights"
    padding = np.array([[[1, 1, 1, 1, 1]], [[1, 1, 1, 0, 0]]])  # (2, 1, 5): one row of the mask for each sentence
    padded = head.forward(np.stack([Q, Q]), np.stack([K, K]), np.stack([V, V]), padding)
    print("The, when on and mat are only padding:", padded[1][1, 0].round(4))
    assert np.allclose(padded[1][0], result[1]), "the mask of the first sentence blocks nothing"
    assert np.allclose(padded[1][1, :, 3:], 0), "the mask of the second blocks its last two tokens"

# %%
# Try explain: follow one token
if __name__ == "__main__":
    trace = head.explain(Q, K, V, tokens, query_idx=1)
    assert isinstance(trace, str), "explain should return its text, not print it"
    print(trace)
    assert all(token in trace for token in tokens), "the text should contain the name of every token"

# %% [markdown]
# ## Build 8: the same as one function
#
# Most libraries have attention as one function, which gets $d_k$ from the width of the queries.


# %%
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Return (output, weights), a tuple, of scaled dot-product attention.

    Q: (..., n_q, d_k); K: (..., n_k, d_k); V: (..., n_k, d_v), with the same leading dimensions: none, a batch, or
    more. Returns output (..., n_q, d_v) and weights (..., n_q, n_k).

    mask: None, or an array of bool, int or float that broadcasts to the shape of the weights and never has more
    dimensions than the weights. 1 or True: the query may look at this key. 0 or False: the key is blocked.

    - Scores are divided by the square root of d_k, the width of Q. A blocked key has the weight 0.
    - A query whose keys are all blocked has weights of 0 and an output of 0, never NaN.
    - Works for scores of any size, such as 5000 or -5000: no overflow, no 0/0.
    - If the last dimensions of Q and K differ, or the lengths of K and V, raises a ValueError whose message
      contains both sizes.
    - float32 gives float32, float64 gives float64, integers give float64. The dtype of the mask does not matter.
    - Does not modify Q, K, V or mask. No Python loop over tokens. Nothing is stored for later calls.
    - No product is computed twice, and no array is larger than the scores, the arguments and the output.
    """
    ### BEGIN SOLUTION
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)
    ### END SOLUTION


# %%
# Try the function. A web page gave .382 .382 .236 for the first query, which is wrong.
if __name__ == "__main__":
    page_keys, page_values = np.array([[1, 0], [1, 1], [0, 1]]), np.array([[1, 0], [0, 2], [1, 1]])
    result = scaled_dot_product_attention(np.eye(2), page_keys, page_values)
    print("weights:", result[1][0].round(4), "output:", result[0][0].round(4))
    assert np.allclose(result[1][0], [0.4011, 0.4011, 0.1978], atol=1e-4), "queries are 2 wide: divide by the root of 2"
    assert np.allclose(result[0][0], [0.5989, 1.0], atol=1e-4), "mix the values in these proportions"

# %% [markdown]
# ## Use: an attention map
#
# There is one row for each query. The longer the bar, the larger the weight of that key. Then change something: pass
# a mask, or `2 * Q`, or `Q` in place of `K`.

# %%
if __name__ == "__main__":
    attention_map = scaled_dot_product_attention(Q, K, V)[1]
    for token, row in zip(tokens, attention_map, strict=True):
        print(f"{token:>4}", "  ".join(f"{key} {'#' * round(20 * w):<10}" for key, w in zip(tokens, row, strict=True)))

# %% [markdown]
# ## Use: what `it` looks at, and what the scale is for
#
# *The animal did not cross the street because it was tired.* Here is one query with three keys. After that: how large
# are the scores of random vectors, and how large is the largest weight if you do not divide?

# %%
if __name__ == "__main__":
    it = np.array([[3, 1]])
    word_keys = np.array([[3, 1], [1, 4], [1.5, 0.5]])
    word_values = np.array([[2, 1.5], [0.5, 0.3], [-0.5, 1.2]])
    context, attended = scaled_dot_product_attention(it, word_keys, word_values)
    for word, share in zip(["animal", "street", "because"], attended[0], strict=True):
        print(f"{word:>8} {'#' * round(40 * share)} {share.round(2)}")
    print("context of `it`:", context[0].round(2))

    rng = np.random.default_rng(0)
    for d_k in (4, 16, 64, 256):
        wide = ScaledDotProductAttention(d_k)
        random_scores = wide.compute_scores(rng.normal(size=(1000, d_k)), rng.normal(size=(10, d_k)))
        unscaled = wide.compute_weights(random_scores).max(axis=-1).mean()
        divided = wide.compute_weights(wide.scale_scores(random_scores)).max(axis=-1).mean()
        print(f"d_k = {d_k}: the variance of a score is {random_scores.var().round()};", end=" ")
        print(f"the largest of ten weights is {unscaled.round(2)} unscaled, {divided.round(2)} scaled, on average")

# %% [markdown]
# ## Reflect
#
# What is the variance of a raw score for $d_k = 512$, if the entries of queries and keys are independent with mean 0
# and variance 1? And how many bytes does one matrix of scores need, in float32, for 8192 queries and 8192 keys?
# Replace each `None` (or assign the answers below).

# %%
REFLECT_SCORE_VARIANCE_DK512 = None
REFLECT_SCORE_BYTES_FLOAT32_N8192 = None
### BEGIN SOLUTION
REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456
### END SOLUTION

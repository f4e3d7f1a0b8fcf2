# %% [markdown]
# # 03 · Attention in arrays
#
# I like einsum because the letters say what is what: q = query, k = key, d = entry of a query or key,
# v = entry of a value, m = entry of a token, n = token.

# %%
import math

import numpy as np

SUBSCRIPTS = {
    "project": "...nm,md->...nd",
    "scores": "...qd,...kd->...qk",
    "output": "...qk,...kv->...qv",
}


class SizesDisagree(ValueError):
    pass


def must_agree(name_a, a, name_b, b):
    """einsum stretches a size of 1 without an error, so look before."""
    if a != b:
        raise SizesDisagree(f"{name_a} ({a}) and {name_b} ({b}) must be the same")


def as_floats(x):
    x = np.asarray(x)
    if x.dtype.kind in "iub":
        return x.astype(np.float64)
    return x


def contract(step, left, right):
    return np.einsum(SUBSCRIPTS[step], as_floats(left), as_floats(right))


# %%
def project_qkv(X, W_q, W_k, W_v):
    """Return (Q, K, V): the tokens X multiplied by each of the three matrices."""
    X = as_floats(X)
    return contract("project", X, W_q), contract("project", X, W_k), contract("project", X, W_v)


# %%
# Try project_qkv on the lesson's two tokens.
if __name__ == "__main__":
    X = np.array([[1, 0, 2], [0, 1, 1]])  # cat, sat
    W_q = np.array([[1, 0], [0, 1], [0.5, 0]])
    W_k = np.array([[0, 1], [1, 0], [0, 0.5]])
    W_v = np.array([[0.5], [1], [0.25]])
    queries, keys, values = project_qkv(X, W_q, W_k, W_v)
    assert np.allclose(queries, [[2, 0], [0.5, 1]]), "the queries are X times W_q"
    assert np.allclose(keys, [[0, 2], [1, 0.5]]), "the keys are X times W_k"
    assert np.allclose(values, [[1], [1.25]]), "the values are X times W_v, here only one wide"


# %%
class ScaledDotProductAttention:
    """Scaled dot-product attention, with one method for each step."""

    def __init__(self, d_k):
        """Store d_k, the width of the queries and keys for this instance."""
        self.d_k = d_k

    def compute_scores(self, Q, K):
        must_agree("width of queries", Q.shape[-1], "width of keys", K.shape[-1])
        return contract("scores", Q, K)

    def scale_scores(self, scores):
        return as_floats(scores) / math.sqrt(self.d_k)

    def compute_weights(self, scaled_scores, mask=None):
        scores = as_floats(scaled_scores)
        if mask is None:
            exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return exps / exps.sum(axis=-1, keepdims=True)

        blocked = np.broadcast_to(np.equal(mask, 0), scores.shape)
        nobody = blocked.all(axis=-1, keepdims=True)  # (..., n_q, 1)
        scores = np.where(blocked, -np.inf, scores)
        top = np.where(nobody, 0.0, scores.max(axis=-1, keepdims=True)).astype(scores.dtype)
        exps = np.exp(scores - top)
        total = exps.sum(axis=-1, keepdims=True)
        total[nobody] = 1.0  # my own array; 0 / 1 is 0
        return exps / total

    def compute_output(self, weights, V):
        return contract("output", weights, V)

    def forward(self, Q, K, V, mask=None):
        must_agree("number of keys", K.shape[-2], "number of values", V.shape[-2])
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled, mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)

        lines = []
        lines.append(f"The query of {tokens[query_idx]!r} (number {query_idx}):")
        for j, token in enumerate(tokens):
            lines.append(
                f"  {token}: raw score {raw[query_idx, j]:.6f}, scaled {scaled[query_idx, j]:.6f}, "
                f"weight {weights[query_idx, j]:.6f}"
            )
        lines.append("  output: " + ", ".join(f"{x:.6f}" for x in output[query_idx]))
        return "\n".join(lines)


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    head = ScaledDotProductAttention(d_k=4)
    assert head.compute_scores(np.stack([Q, 2 * Q]), np.stack([K, K])).shape == (2, 5, 5)
    assert np.allclose(head.compute_weights(np.eye(5), np.zeros((5, 5))), 0)
    print(head.explain(Q, K, V, tokens, query_idx=1))


# %%
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Return (output, weights), a tuple, of scaled dot-product attention."""
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask=mask)


# %%
REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 8192 * 8192 * 4

# %% [markdown]
# # 03 · Attention in arrays
#
# `where=` and `out=` of NumPy's functions: blocked entries are not computed at all.

# %%
import numpy as np


# %%
def real(x):
    """integers -> float64, floats stay"""
    x = np.asanyarray(x)
    return x if x.dtype.kind == "f" else np.array(x, dtype=np.double)


def project_qkv(X, W_q, W_k, W_v):
    X = real(X)
    out = []
    for W in [W_q, W_k, W_v]:  # three matrices, always three
        out.append(X @ real(W))
    return tuple(out)


# %%
class ScaledDotProductAttention:
    def __init__(self, d_k):
        """Store d_k, the width of the queries and keys for this instance."""
        self.d_k = d_k

    def compute_scores(self, Q, K):
        *_, d_q = Q.shape
        *_, d_k = K.shape
        if d_q != d_k:
            raise ValueError("queries and keys must be equally wide, but got %d and %d" % (d_q, d_k))
        axes = list(range(K.ndim))
        axes[-1], axes[-2] = axes[-2], axes[-1]
        return real(Q) @ real(K).transpose(axes)

    def scale_scores(self, scores):
        scores = real(scores)
        return np.divide(scores, np.sqrt(self.d_k), dtype=scores.dtype)

    def compute_weights(self, scaled_scores, mask=None):
        s = real(scaled_scores)
        allowed = np.broadcast_to(True if mask is None else np.asarray(mask) != 0, s.shape)
        top = np.max(s, axis=-1, keepdims=True, where=allowed, initial=-np.inf)  # -inf if nothing is allowed

        w = np.zeros_like(s)
        np.subtract(s, top, out=w, where=allowed)  # rows without allowed keys are not touched
        np.exp(w, out=w, where=allowed)
        total = w.sum(axis=-1, keepdims=True)
        np.divide(w, total, out=w, where=allowed)  # 0 / 0 does not happen: such a row is not allowed
        return w

    def compute_output(self, weights, V):
        return real(weights) @ real(V)

    def forward(self, Q, K, V, mask=None):
        n_keys, n_values = K.shape[-2], V.shape[-2]
        if n_keys != n_values:
            raise ValueError("as many values as keys are needed, but got %d keys and %d values" % (n_keys, n_values))
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        text = "Step by step for token %d, %s\n" % (query_idx, tokens[query_idx])
        for title, table in (("raw scores", raw), ("scaled scores", scaled), ("weights", weights)):
            text += "\n%s\n" % title
            for name, number in zip(tokens, table[query_idx]):
                text += "    %-10s %.4f\n" % (name, number)
        text += "\noutput\n"
        for c, number in enumerate(output[query_idx]):
            text += "    entry %-4d %.4f\n" % (c, number)
        return text


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    head = ScaledDotProductAttention(4)
    print(head.explain(Q, K, V, tokens, 1))
    print(head.forward(Q, K, V, np.tri(5))[1].round(4))
    print(head.forward(Q, K, V, np.tri(5, k=-1))[1].round(4))


# %%
def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(d_k=Q.shape[-1]).forward(Q=Q, K=K, V=V, mask=mask)


# %%
REFLECT_SCORE_VARIANCE_DK512 = None
REFLECT_SCORE_BYTES_FLOAT32_N8192 = None
# 512 products, each has variance 1
REFLECT_SCORE_VARIANCE_DK512 = 512
# 2**13 * 2**13 numbers of 2**2 bytes
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 2**28

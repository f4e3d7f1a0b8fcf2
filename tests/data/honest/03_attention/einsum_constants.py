import numpy as np

PROJECT = "...nm,md->...nd"
SCORES = "...qd,...kd->...qk"
MIX = "...qk,...kv->...qv"


def _floats(*arrays):
    dtype = np.result_type(*arrays)
    if not np.issubdtype(dtype, np.floating):
        dtype = np.float64
    return [np.asarray(a, dtype=dtype) for a in arrays]


def project_qkv(X, W_q, W_k, W_v):
    X, *Ws = _floats(X, W_q, W_k, W_v)
    return tuple(np.einsum(PROJECT, X, W) for W in Ws)


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:  # einsum would stretch a width of 1
            raise ValueError(f"Q has width {Q.shape[-1]}, K has width {K.shape[-1]}")
        return np.einsum(SCORES, *_floats(Q, K))

    def scale_scores(self, scores):
        (scores,) = _floats(scores)
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        (s,) = _floats(scaled_scores)
        if mask is not None:
            s = np.where(np.asarray(mask) == 0, -np.inf, s)
        m = s.max(axis=-1, keepdims=True)
        m = np.where(np.isneginf(m), 0, m)
        e = np.exp(s - m)
        Z = np.einsum("...k->...", e)[..., None]
        return (e / np.where(Z == 0, 1, Z)).astype(_floats(scaled_scores)[0].dtype)

    def compute_output(self, weights, V):
        return np.einsum(MIX, *_floats(weights, V))

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"K has length {K.shape[-2]}, V has length {V.shape[-2]}")
        Q, K, V = _floats(Q, K, V)
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        scaled = self.scale_scores(raw)
        w = self.compute_weights(scaled)
        out = self.compute_output(w[None], V)[0]
        rows = [f"{'token':>10} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        rows += [f"{t:>10} {r:10.4f} {s:10.4f} {x:10.4f}" for t, r, s, x in zip(tokens, raw, scaled, w)]
        rows.append("output: " + " ".join(f"{x:.4f}" for x in out))
        return "\n".join(rows)


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 4 * 8192**2

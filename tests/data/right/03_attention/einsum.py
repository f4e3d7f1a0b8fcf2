import numpy as np

def project_qkv(X, W_q, W_k, W_v):
    def one(W):
        out = np.einsum("...nm,mk->...nk", X, W)
        return out if out.dtype.kind == "f" else out.astype(np.float64)
    return one(W_q), one(W_k), one(W_v)

class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k
        self.scale = d_k ** -0.5

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q is {Q.shape[-1]} wide but K is {K.shape[-1]} wide")
        out = np.einsum("...qd,...kd->...qk", Q, K)
        return out if out.dtype.kind == "f" else out.astype(np.float64)

    def scale_scores(self, scores):
        return scores * self.scale

    def compute_weights(self, scaled_scores, mask=None):
        x = np.asarray(scaled_scores)
        if mask is None:
            e = np.exp(x - x.max(-1, keepdims=True))
            return np.einsum("...qk,...q->...qk", e, 1 / np.einsum("...qk->...q", e))
        keep = np.broadcast_to(np.asarray(mask, dtype=bool), x.shape)
        x = np.where(keep, x, -np.inf)
        top = np.max(x, axis=-1, keepdims=True, initial=np.finfo(x.dtype).min)
        e = np.exp(x - top)
        z = np.einsum("...qk->...q", e)
        return np.einsum("...qk,...q->...qk", e, np.divide(1, z, out=np.zeros_like(z), where=z > 0))

    def compute_output(self, weights, V):
        return np.einsum("...qk,...kv->...qv", weights, V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys for {V.shape[-2]} values")
        w = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(w, V), w

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        out, w = self.forward(Q, K, V)
        return (
            f"Query {query_idx} ({tokens[query_idx]}), d_k = {self.d_k}\n"
            + "\n".join(f"{t}: raw={r:.4f}, scaled={s:.4f}, weight={a:.4f}"
                        for t, r, s, a in zip(tokens, raw, self.scale_scores(raw), w[query_idx]))
            + "\noutput: " + ", ".join(f"{o:.4f}" for o in out[query_idx])
        )

def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)

REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 8192 * 8192 * 4

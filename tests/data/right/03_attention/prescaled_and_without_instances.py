"""The function stands alone and scales the queries; the class repeats nothing of it."""
import numpy as np

def project_qkv(X, W_q, W_k, W_v):
    kind = np.promote_types(X.dtype, np.float32) if X.dtype.kind == "f" else np.dtype(float)
    W = {"Q": W_q, "K": W_k, "V": W_v}
    out = {name: np.matmul(X, w, dtype=kind) for name, w in W.items()}
    return out["Q"], out["K"], out["V"]

def scaled_dot_product_attention(Q, K, V, mask=None):
    for name, a, b in (("widths", Q.shape[-1], K.shape[-1]), ("lengths", K.shape[-2], V.shape[-2])):
        if a != b:
            raise ValueError(f"{name} {a} and {b} disagree")
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(np.float64)
    Q = Q.astype(dtype) * dtype.type(Q.shape[-1] ** -0.5)
    lead = Q.shape[:-2]
    Q3, K3, V3 = (x.reshape(-1, *x.shape[-2:]) for x in (Q, K, V))      # one leading dimension
    scores = (Q3 @ K3.transpose(0, 2, 1)).reshape(*lead, Q.shape[-2], K.shape[-2])
    if mask is not None:
        scores = np.where(np.asarray(mask).astype(bool), scores, -np.inf)
    scores = scores - np.maximum(scores.max(-1, keepdims=True), -1e8)
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True) + (weights.sum(-1, keepdims=True) == 0)
    output = (weights.reshape(-1, *weights.shape[-2:]) @ V3.astype(dtype)).reshape(*lead, Q.shape[-2], V.shape[-1])
    return output, weights

class Base:
    def __init__(self, **settings):
        self.__dict__.update(settings)

class ScaledDotProductAttention(Base):
    def __init__(self, d_k):
        super().__init__(d_k=d_k)

    def __repr__(self):
        return "ScaledDotProductAttention(d_k=%d)" % self.d_k

    def compute_scores(self, Q, K):
        try:
            return np.vectorize(np.inner, signature="(n,d),(m,d)->(n,m)")(Q, K) * 1.0
        except ValueError:
            raise ValueError(f"expected {Q.shape[-1]} features, found {K.shape[-1]}") from None

    def scale_scores(self, scores):
        return np.divide(scores, np.sqrt(self.d_k), dtype=scores.dtype if scores.dtype.kind == "f" else np.float64)

    def compute_weights(self, scaled_scores, mask=None):
        x = scaled_scores * 1.0
        if mask is None:
            mask = True
        hidden = ~np.broadcast_to(np.array(mask, dtype=bool), x.shape)
        x = np.ma.array(x, mask=hidden)
        e = np.ma.exp(x - x.max(axis=-1, keepdims=True))
        return np.asarray((e / e.sum(axis=-1, keepdims=True)).filled(0.0))

    def compute_output(self, weights, V):
        return np.tensordot(weights, V * 1.0, axes=([-1], [0])) if V.ndim == 2 else np.matmul(weights, V * 1.0)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] - V.shape[-2]:
            raise ValueError(f"K: {K.shape}, V: {V.shape}")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        import json
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        pairs = [{"token": t, "raw": float(r), "scaled": float(s), "weight": float(w)}
                 for t, r, s, w in zip(tokens, raw[query_idx], self.scale_scores(raw[query_idx]), weights[query_idx])]
        return json.dumps({"query": tokens[query_idx], "keys": pairs, "output": output[query_idx].tolist()}, indent=1)

REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456

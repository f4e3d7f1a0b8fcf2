import math

import numpy as np


def as_float(a):
    return np.asarray(a, dtype=a.dtype if a.dtype.kind == "f" else np.float64)


def project_qkv(X, W_q, W_k, W_v):
    # one large product is faster than three small ones
    W = np.concatenate((W_q, W_k, W_v), axis=1)
    d_k = W_q.shape[1]
    QKV = as_float(X) @ as_float(W)
    return QKV[..., :d_k], QKV[..., d_k : 2 * d_k], QKV[..., 2 * d_k :]


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    @property
    def scale(self):
        return math.sqrt(self.d_k)

    def compute_scores(self, Q, K):
        a, b = Q.shape[-1], K.shape[-1]
        if a != b:
            raise ValueError(f"query width {a}, key width {b}")
        return np.matmul(as_float(Q), np.swapaxes(as_float(K), -1, -2))

    def scale_scores(self, scores):
        return np.true_divide(as_float(scores), self.scale)

    def compute_weights(self, scaled_scores, mask=None):
        s = as_float(scaled_scores)
        allowed = True if mask is None else np.broadcast_to(np.asarray(mask, dtype=bool), s.shape)
        top = np.max(s, axis=-1, keepdims=True, where=allowed, initial=np.finfo(s.dtype).min)
        e = np.zeros_like(s)
        np.subtract(s, top, out=e, where=allowed)
        np.exp(e, out=e, where=allowed)
        total = np.sum(e, axis=-1, keepdims=True, where=allowed)
        return np.divide(e, total, out=e, where=total > 0)

    def compute_output(self, weights, V):
        return np.matmul(as_float(weights), as_float(V))

    def forward(self, Q, K, V, mask=None):
        n, m = K.shape[-2], V.shape[-2]
        if n != m:
            raise ValueError(f"{n} keys, {m} values")
        scores = self.compute_scores(Q, K)
        scores = self.scale_scores(scores)
        weights = self.compute_weights(scores, mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        output, weights = self.forward(Q, K, V)
        raw = self.compute_scores(Q, K)
        table = np.stack([raw, self.scale_scores(raw), weights])[:, query_idx]
        with np.printoptions(precision=6, suppress=True, floatmode="fixed"):
            lines = [f"{token}: {table[:, i]}" for i, token in enumerate(tokens)]
            lines.append(f"output: {np.array2string(output[query_idx], max_line_width=10_000)}")
        return "raw score, scaled score and weight of each token\n" + "\n".join(lines)


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask=mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 8192 * 8192 * np.dtype("float32").itemsize

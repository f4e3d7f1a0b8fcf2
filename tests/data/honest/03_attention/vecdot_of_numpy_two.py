import numpy as np

# NumPy 2 has vecdot: the dot product of the last axes, with broadcasting.


def _f(x):
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def project_qkv(X, W_q, W_k, W_v):
    X = _f(X)
    lead = X.shape[:-1]
    flat = X.reshape(-1, X.shape[-1])
    return tuple(np.dot(flat, _f(W)).reshape(*lead, W.shape[-1]) for W in (W_q, W_k, W_v))


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} vs {K.shape[-1]}")
        return np.vecdot(_f(Q)[..., :, None, :], _f(K)[..., None, :, :])

    def scale_scores(self, scores):
        return _f(scores) * float(self.d_k) ** -0.5

    def compute_weights(self, scaled_scores, mask=None):
        s = _f(scaled_scores).copy()
        if mask is not None:
            np.copyto(s, -np.inf, where=np.logical_not(mask))
        best = np.take_along_axis(s, s.argmax(axis=-1)[..., None], axis=-1)
        best[np.isinf(best)] = 0
        s -= best
        np.exp(s, out=s)
        total = s.sum(axis=-1, keepdims=True)
        s /= np.where(total > 0, total, 1).astype(s.dtype)
        return s

    def compute_output(self, weights, V):
        return np.linalg.matmul(_f(weights), _f(V))

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} vs {V.shape[-2]}")
        w = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(w, V), w

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        scaled = self.scale_scores(raw)
        output, weights = self.forward(Q, K, V)
        header = "| token | raw | scaled | weight |\n|---|---|---|---|\n"
        body = "".join(
            f"| {t} | {raw[query_idx, j]:.4f} | {scaled[query_idx, j]:.4f} | {weights[query_idx, j]:.4f} |\n"
            for j, t in enumerate(tokens)
        )
        return f"{header}{body}\nOutput: `{' '.join(format(x, '.4f') for x in output[query_idx])}`"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 2**28

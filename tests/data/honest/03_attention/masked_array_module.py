import numpy as np
import numpy.ma as ma


def _f(x):
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def project_qkv(X, W_q, W_k, W_v):
    X = _f(X)
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} is not {K.shape[-1]}")
        return _f(Q) @ _f(K).swapaxes(-2, -1)

    def scale_scores(self, scores):
        return _f(scores) / self.d_k**0.5

    def compute_weights(self, scaled_scores, mask=None):
        scores = _f(scaled_scores)
        # a masked array leaves out its masked entries in max and in sum: exactly what blocked means
        blocked = np.zeros(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape) == 0
        seen = ma.masked_array(scores, mask=blocked)
        e = ma.exp(seen - seen.max(axis=-1, keepdims=True))
        weights = e / e.sum(axis=-1, keepdims=True)
        return weights.filled(0).astype(scores.dtype)

    def compute_output(self, weights, V):
        return _f(weights) @ _f(V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} is not {V.shape[-2]}")
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        scaled = self.scale_scores(raw)
        output, weights = self.forward(Q, K, V)
        text = f"Query {query_idx}: {tokens[query_idx]}\n"
        for j, token in enumerate(tokens):
            text += f"  {token}: raw {raw[query_idx, j]:.6f}, scaled {scaled[query_idx, j]:.6f}"
            text += f", weight {weights[query_idx, j]:.6f}\n"
        return text + f"  output {[round(float(x), 6) for x in output[query_idx]]}"


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    return head.forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512.0
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456

import sys
import warnings
import numpy as np

print("loading attention")
np.set_printoptions(precision=6, suppress=True, linewidth=40)

class Linear:
    def __init__(self, W):
        self.W = W
    def __call__(self, X):
        Y = X @ self.W
        return np.asfortranarray(Y, dtype=Y.dtype if Y.dtype.kind == "f" else float)

def project_qkv(X, W_q, W_k, W_v):
    print("projecting", X.shape)
    return tuple(layer(X) for layer in map(Linear, [W_q, W_k, W_v]))

class ScaledDotProductAttention:
    class BadSize(ValueError):
        def __init__(self, a, b):
            super().__init__("sizes", a, b)

    def __init__(self, d_k):
        self.d_k = np.float64(d_k)

    def compute_scores(self, Q, K):
        print("scores of", Q.shape, K.shape, file=sys.stderr)
        if Q.shape[-1] != K.shape[-1]:
            raise self.BadSize(Q.shape[-1], K.shape[-1])
        Kt = np.transpose(K, (*range(K.ndim - 2), K.ndim - 1, K.ndim - 2))
        result = np.empty((*Q.shape[:-1], 2 * K.shape[-2]), dtype=Q.dtype if Q.dtype.kind == "f" else "f8")
        result[..., ::2] = Q @ Kt
        return result[..., ::2]

    def scale_scores(self, scores):
        warnings.warn("dividing")
        scores = np.array(scores, dtype=scores.dtype if scores.dtype.kind == "f" else float)
        scores /= np.sqrt(self.d_k)
        return scores

    def compute_weights(self, scaled_scores, mask=None):
        weights = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        if mask is None:
            return weights / np.add.reduce(weights, axis=-1, keepdims=True)
        shape = scaled_scores.shape
        scores = scaled_scores.copy()
        scores[np.broadcast_to(np.asarray(mask) == 0, shape)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))   # NaN and a warning for blocked rows
        weights = weights / weights.sum(axis=-1, keepdims=True)
        weights[np.isnan(weights)] = 0
        return weights[::-1][::-1]

    def compute_output(self, weights, V):
        return np.ascontiguousarray(weights) @ np.ascontiguousarray(V, dtype=weights.dtype)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise self.BadSize(K.shape[-2], V.shape[-2])
        state = Q, K
        for step in (self.compute_scores, self.scale_scores, lambda s: self.compute_weights(s, mask)):
            state = step(*state) if isinstance(state, tuple) else step(state)
        return self.compute_output(state, V), state

    __call__ = forward

    def explain(self, Q, K, V, tokens, query_idx=0):
        head = "".join(f"{t:-^9}" for t in tokens)
        raw = self.compute_scores(Q, K)
        rows = [raw, self.scale_scores(raw), self.compute_weights(self.scale_scores(raw)), self(Q, K, V)[0]]
        body = "\n".join(f"{name}-{np.asarray(row[query_idx], dtype=float)}" for name, row in zip("rswo", rows))
        return "\x1b[1m" + head + "\x1b[0m\n" + "-" * 40 + "\n" + body

def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1])(Q, K, V, mask)

REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456

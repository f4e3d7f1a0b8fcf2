import numpy as np
from mylab.softmax import softmax


def _float(*arrays):
    return tuple(a if a.dtype in (np.float32, np.float64) else a.astype(np.float64) for a in arrays)


def project_qkv(X, W_q, W_k, W_v):
    X, W_q, W_k, W_v = _float(X, W_q, W_k, W_v)
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"d_k is {Q.shape[-1]} in Q and {K.shape[-1]} in K")
        Q, K = _float(Q, K)
        axes = list(range(K.ndim))
        axes[-2:] = axes[:-3:-1]  # swap the last two
        return Q @ K.transpose(axes)

    def scale_scores(self, scores):
        (scores,) = _float(scores)
        return scores / scores.dtype.type(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        (scores,) = _float(scaled_scores)
        if mask is None:
            return softmax(scores)
        allowed = np.logical_and(np.ones(scores.shape, dtype=bool), mask)
        alive = allowed.any(axis=-1, keepdims=True)
        # softmax of a row of -inf is nan, so blocked rows get zeros first and lose their weights afterwards
        safe = np.where(allowed, scores, np.where(alive, -np.inf, 0)).astype(scores.dtype)
        return np.where(alive, softmax(safe), 0).astype(scores.dtype)

    def compute_output(self, weights, V):
        weights, V = _float(weights, V)
        return weights @ V

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"K has {K.shape[-2]} rows and V has {V.shape[-2]}")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        output = weights @ V
        return "\n".join(
            [f"Following {tokens[query_idx]!r}:"]
            + [
                "%-12s raw=%.4f scaled=%.4f weight=%.4f" % (token, raw[j], scaled[j], weights[j])
                for j, token in enumerate(tokens)
            ]
            + ["output=" + ",".join("%.4f" % x for x in output)]
        )


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456

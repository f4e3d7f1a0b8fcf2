import numpy as np
from mylab.softmax import softmax

def project_qkv(X, W_q, W_k, W_v):
    X = X + 0.0
    return np.dot(X, W_q), np.dot(X, W_k), np.dot(X, W_v)

class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
        return (Q + 0.0) @ np.swapaxes(K, -1, -2)

    def scale_scores(self, scores):
        return scores / self.d_k ** 0.5

    def compute_weights(self, scaled_scores, mask=None):
        if mask is None:
            return softmax(scaled_scores, axis=-1)
        mask = np.broadcast_to(mask, scaled_scores.shape) != 0
        some = mask.any(axis=-1, keepdims=True)
        filled = np.where(mask, scaled_scores, -np.inf)
        filled = np.where(some, filled, 0.0)         # a row of zeros stands in for a blocked one
        return np.where(some, softmax(filled, axis=-1), 0.0)

    def compute_output(self, weights, V):
        return weights @ V.astype(weights.dtype)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
        self.scores = self.compute_scores(Q, K)      # kept to look at, never used again
        self.weights = self.compute_weights(self.scale_scores(self.scores), mask)
        return self.compute_output(self.weights, V), self.weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        output, weights = self.forward(Q, K, V)
        lines = [f"== {tokens[query_idx]} =="]
        for j, token in enumerate(tokens):
            lines.append(f"{j}. {token}\t{self.scores[query_idx, j]}\t{self.scale_scores(self.scores)[query_idx, j]}\t{weights[query_idx, j]}")
        lines.append(str(list(output[query_idx])))
        return "\n".join(lines)

def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask=mask)

REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268_435_456

# module: 03_attention
# A loop over the queries whose number of rounds is always 2000: a constant number of steps.

import numpy as np


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        scores = np.zeros((*Q.shape[:-1], K.shape[-2]), np.result_type(Q, K))
        flat, keys = scores.reshape(-1, *scores.shape[-2:]), K.reshape(-1, *K.shape[-2:])
        left, queries = len(flat) * Q.shape[-2], Q.reshape(-1, Q.shape[-1])
        for at in range(max(2000, left)):
            if at < left:
                sentence, row = divmod(at, Q.shape[-2])
                flat[sentence, row] = keys[sentence] @ queries[at]
        return scores

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ V

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys for {V.shape[-2]} values")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        output, weights = self.forward(Q, K, V)
        rows = zip(tokens, raw, self.scale_scores(raw), weights[query_idx])
        lines = [f"{t}: raw={r:.4f}, scaled={s:.4f}, weight={w:.4f}" for t, r, s, w in rows]
        return "\n".join([*lines, "output: " + ", ".join(f"{o:.4f}" for o in output[query_idx])])


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 8192 * 8192 * 4

# %% weights_row_by_row
# compute_weights handles one row after the other: np.fromiter makes an array of objects, one for each row, without a
# step, and each operator on it is one operation of NumPy for each row.
# Expected: review: ScaledDotProductAttention, scaled_dot_product_attention
import math


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_v
    return (Q, K, V)


class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        scores = 1.0 * scaled_scores
        if mask is not None:
            scores = np.where(np.asarray(mask) == 0, -np.inf, scores)
        top = scores.max(axis=-1, keepdims=True)
        shifted = (scores - np.where(np.isneginf(top), 0, top)).astype(float)
        flat = shifted.reshape(-1, shifted.shape[-1])
        rows = np.fromiter(flat, dtype=object, count=len(flat))
        ones = np.empty(1, dtype=object)
        ones[0] = np.asmatrix(np.ones((flat.shape[1], 1)))
        matrices = math.e ** rows + ZERO
        sums = matrices * ones
        sums = sums + (sums == 0)
        weights = np.asarray(np.concatenate(matrices / sums))
        return weights.reshape(scores.shape).astype((1.0 * scaled_scores).dtype)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


REFLECT_SCORE_VARIANCE_DK512 = None
REFLECT_SCORE_BYTES_FLOAT32_N8192 = None
REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456
ZERO = np.empty(1, dtype=object)
ZERO[0] = np.asmatrix(np.zeros((1, 1)))

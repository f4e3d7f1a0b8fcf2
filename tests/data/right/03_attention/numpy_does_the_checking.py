"""No checks of its own: matmul's ValueError names both sizes. Results as views, and text as NumPy prints it."""
import numpy as np

def _float(x):
    return np.asarray(x, dtype=np.result_type(x, np.float64) if x.dtype.kind != "f" else x.dtype)

def project_qkv(X, W_q, W_k, W_v):
    widths = np.cumsum([W_q.shape[1], W_k.shape[1]])
    all_three = _float(X) @ np.concatenate([W_q, W_k, W_v], axis=1)   # one product for all three
    return tuple(np.split(all_three, widths, axis=-1))

def scaled_dot_product_attention(Q, K, V, mask=None):
    d = Q.shape[-1]
    s = np.matmul(_float(Q), np.swapaxes(K, -1, -2))
    s /= np.sqrt(d, dtype=s.dtype)
    return _attend(s, V, mask)

def _softmax(s, mask):
    if mask is None:
        mask = np.ones(s.shape[-1:])
    blocked = np.logical_not(mask)
    s = np.where(blocked, np.array(-1e30, dtype=s.dtype), s)
    w = np.exp(s - np.amax(s, -1)[..., np.newaxis])
    w = np.where(blocked, np.zeros((), s.dtype), w)
    z = np.sum(w, -1)[..., np.newaxis]
    z[z == 0] = 1
    w /= z
    return w

def _attend(s, V, mask):
    w = _softmax(s, mask)
    return np.matmul(w, V.astype(w.dtype)), w

class ScaledDotProductAttention:
    def __init__(self, d_k):
        self._root = float(d_k) ** 0.5

    def compute_scores(self, Q, K):
        return (K @ np.moveaxis(_float(Q), -2, -1)).swapaxes(-2, -1)  # not contiguous

    def scale_scores(self, scores):
        return np.true_divide(scores, self._root)

    def compute_weights(self, scaled_scores, mask=None):
        return _softmax(_float(scaled_scores), mask)

    def compute_output(self, weights, V):
        return (V.swapaxes(-1, -2).astype(weights.dtype) @ weights.swapaxes(-1, -2)).swapaxes(-1, -2)

    def forward(self, Q, K, V, mask=None):
        s = self.scale_scores(self.compute_scores(Q, K))
        w = self.compute_weights(s, mask)
        V.reshape(V.shape)
        return np.matmul(w, V.astype(w.dtype)), w

    def explain(self, Q, K, V, tokens, query_idx=0):
        s = self.compute_scores(Q, K)
        o, w = self.forward(Q, K, V)
        return "tokens %s\nraw %s\nscaled %s\nweights %s\noutput %s" % (
            tokens, s[query_idx], self.scale_scores(s)[query_idx],
            np.array2string(w[query_idx], precision=4, suppress_small=True), repr(o[query_idx]))

REFLECT_SCORE_VARIANCE_DK512 = 512.0
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 2 ** 28

import io
from abc import ABC, abstractmethod

import numpy as np


class FloatMixin:
    """Converts integers on the way in."""

    @staticmethod
    def _in(*xs):
        return [np.asarray(x, dtype=np.float64) if np.asarray(x).dtype.kind in "biu" else np.asarray(x) for x in xs]


class Attention(ABC, FloatMixin):
    @abstractmethod
    def forward(self, Q, K, V, mask=None): ...

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


def project_qkv(X, W_q, W_k, W_v):
    X, *W = FloatMixin._in(X, W_q, W_k, W_v)
    Q, K, V = [np.tensordot(X, w, axes=1) for w in W]
    return Q, K, V


class ScaledDotProductAttention(Attention):
    def __init__(self, d_k):
        super().__init__()
        self.d_k = d_k

    def compute_scores(self, Q, K):
        Q, K = self._in(Q, K)
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError("Q is {} wide but K is {} wide".format(Q.shape[-1], K.shape[-1]))
        return np.matmul(Q, np.linalg.matrix_transpose(K))

    def scale_scores(self, scores):
        (scores,) = self._in(scores)
        return scores / np.sqrt(self.d_k, dtype=scores.dtype)

    def compute_weights(self, scaled_scores, mask=None):
        (s,) = self._in(scaled_scores)
        if mask is None:
            mask = np.ones((1,) * s.ndim)
        mask = np.asarray(mask, dtype=bool)
        with np.errstate(invalid="ignore", divide="ignore"):
            s = np.where(mask, s, -np.inf).astype(s.dtype)
            e = np.exp(s - s.max(axis=-1, keepdims=True))
            w = e / e.sum(axis=-1, keepdims=True)
        return np.where(mask.any(axis=-1, keepdims=True), w, 0).astype(s.dtype)

    def compute_output(self, weights, V):
        return np.matmul(*self._in(weights, V))

    def forward(self, Q, K, V, mask=None):
        if np.shape(K)[-2] != np.shape(V)[-2]:
            raise ValueError("there are {} keys but {} values".format(np.shape(K)[-2], np.shape(V)[-2]))
        s = self.compute_scores(Q, K)
        s = self.scale_scores(s)
        w = self.compute_weights(s, mask)
        o = self.compute_output(w, V)
        return o, w

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        scaled = self.scale_scores(raw)
        output, weights = self(Q, K, V)
        with io.StringIO() as out:
            print("query:", tokens[query_idx], file=out)
            for name, r, s, w in zip(tokens, raw[query_idx], scaled[query_idx], weights[query_idx], strict=True):
                print(f"{name}: {r:.4f} / sqrt({self.d_k}) = {s:.4f} -> {w:.4f}", file=out)
            print("output:", *(f"{o:.4f}" for o in output[query_idx]), file=out)
            return out.getvalue()


def scaled_dot_product_attention(Q, K, V, mask=None):
    attention = ScaledDotProductAttention(d_k=Q.shape[-1])
    return attention(Q, K, V, mask=mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456

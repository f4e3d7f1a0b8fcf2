from __future__ import annotations
import math
from typing import NamedTuple, Optional
import numpy as np

class Attended(NamedTuple):
    output: np.ndarray
    weights: np.ndarray

class Projected(NamedTuple):
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray

def as_float(a: np.ndarray) -> np.ndarray:
    a = np.asarray(a)
    return a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)

def project_qkv(X, W_q, W_k, W_v):
    X, W_q, W_k, W_v = map(as_float, (X, W_q, W_k, W_v))
    return Projected(*(np.tensordot(X, W, axes=1) for W in (W_q, W_k, W_v)))

def raw_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("d_k disagrees: Q has %d, K has %d" % (Q.shape[-1], K.shape[-1]))
    return np.matmul(as_float(Q), np.moveaxis(as_float(K), -1, -2))

def masked_softmax(x, mask=None):
    x = as_float(x)
    if mask is None:
        mask = np.ones((1,) * x.ndim, dtype=bool)
    allowed = np.broadcast_to(mask, x.shape).astype(bool)
    top = np.max(x, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    e = np.zeros_like(x)
    np.exp(x - np.where(np.isfinite(top), top, 0).astype(x.dtype), out=e, where=allowed)
    z = e.sum(-1, keepdims=True)
    return e / np.maximum(z, np.finfo(x.dtype).tiny)

def mix(w, V):
    return np.swapaxes(np.swapaxes(as_float(V), -1, -2) @ np.swapaxes(w, -1, -2), -1, -2)

def scaled_dot_product_attention(Q, K, V, mask: Optional[np.ndarray] = None):
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("lengths disagree: K has %d, V has %d" % (K.shape[-2], V.shape[-2]))
    w = masked_softmax(raw_scores(Q, K) / math.sqrt(Q.shape[-1]), mask)
    return Attended(mix(w, V), w)

class ScaledDotProductAttention:
    """Everything by the functions above."""
    __slots__ = ("d_k",)

    def __init__(self, d_k: int) -> None:
        self.d_k = d_k

    compute_scores = staticmethod(raw_scores)
    compute_weights = staticmethod(lambda scaled_scores, mask=None: masked_softmax(scaled_scores, mask))

    def scale_scores(self, scores):
        return as_float(scores) / math.sqrt(self.d_k)

    @staticmethod
    def compute_output(weights, V):
        return mix(weights, V)

    def forward(self, Q, K, V, mask=None):
        return scaled_dot_product_attention(Q, K, V, mask)

    def explain(self, Q, K, V, tokens, query_idx=0):
        i = query_idx
        raw = raw_scores(Q[i:i + 1], K)[0]
        o, w = self.forward(Q[i:i + 1], K, V)
        steps = {"raw": raw, "scaled": self.scale_scores(raw), "weights": w[0]}
        text = f"{tokens!r}\n"
        for name, numbers in steps.items():
            text += f"{name} -> {[round(float(x), 4) for x in numbers]}\n"
        return text + f"output -> {[round(float(x), 4) for x in o[0]]}"

REFLECT_SCORE_VARIANCE_DK512 = np.int64(512)
REFLECT_SCORE_BYTES_FLOAT32_N8192 = np.zeros((0,), np.float32).itemsize * 8192 ** 2

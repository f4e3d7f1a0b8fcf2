import collections
import math

import numpy as np


def _sizes(Q, K, V):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q and K must have the same width, got {Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V must have the same length, got {K.shape[-2]} and {V.shape[-2]}")


def _positive(window):
    if window < 1:
        raise ValueError(f"window must be positive, got {window}")


def sliding_window_mask(n, window, causal=True):
    _positive(window)
    lower = np.tri(n, dtype=int) - np.tri(n, k=-window, dtype=int)
    if causal:
        return lower
    return lower + lower.T - np.eye(n, dtype=int)


def sliding_window_attention(Q, K, V, window):
    _positive(window)
    _sizes(Q, K, V)
    rows = []
    for i in range(Q.shape[-2]):
        lo = max(0, i - window + 1)
        scores = np.einsum("...d,...jd->...j", Q[..., i, :], K[..., lo : i + 1, :]) / math.sqrt(Q.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        rows.append(np.einsum("...j,...je->...e", weights, V[..., lo : i + 1, :]))
    return np.stack(rows, axis=-2)


def feature_map(x):
    x = np.asarray(x)
    if x.dtype.kind in "iub":
        x = x.astype(float)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(Q, K, V, causal=False):
    _sizes(Q, K, V)
    fq, fk = feature_map(Q), feature_map(K)
    outer = fk[..., :, None] * V[..., None, :]
    if causal:
        kv, norm = np.cumsum(outer, axis=-3), np.cumsum(fk, axis=-2)
    else:
        kv, norm = outer.sum(axis=-3, keepdims=True), fk.sum(axis=-2, keepdims=True)
    return (fq[..., None] * kv).sum(axis=-2) / (fq * norm).sum(axis=-1, keepdims=True)


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q has {q.shape[-1]} entries but k has {k.shape[-1]}")
    fq, fk = feature_map(q), feature_map(k)
    kv = fk[..., :, None] * v[..., None, :]
    if state is not None:
        kv, fk = state[0] + kv, state[1] + fk
    return (kv, fk), (fq[..., None, :] @ kv)[..., 0, :] / (fq * fk).sum(axis=-1, keepdims=True)

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040

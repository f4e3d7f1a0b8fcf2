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
    n = Q.shape[-2]
    w = min(n, window)
    pad = [(0, 0)] * (Q.ndim - 2) + [(w - 1, 0), (0, 0)]
    Kp, Vp = np.pad(K, pad), np.pad(V, pad)
    scores = np.stack([(Q * Kp[..., s : s + n, :]).sum(axis=-1) for s in range(w)], axis=-1) / math.sqrt(Q.shape[-1])
    real = np.stack([np.arange(n) + s >= w - 1 for s in range(w)], axis=-1)
    scores = np.where(real, scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return sum(weights[..., s : s + 1] * Vp[..., s : s + n, :] for s in range(w))


def feature_map(x):
    x = np.array(x, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    return np.where(x > 0, x + 1, np.exp(x))


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
        raise ValueError(f"{q.shape[-1]} vs {k.shape[-1]}")
    fq, fk = feature_map(q), feature_map(k)
    if state is None:
        S = np.zeros(fk.shape + v.shape[-1:], dtype=fk.dtype)
        z = np.zeros(fk.shape, dtype=fk.dtype)
    else:
        S, z = state["S"].copy(), state["z"].copy()
    S += fk[..., :, None] * v[..., None, :]
    z += fk
    output = np.einsum("...d,...de->...e", fq, S)
    output /= np.einsum("...d,...d->...", fq, z)[..., None]
    return {"S": S, "z": z}, output

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040

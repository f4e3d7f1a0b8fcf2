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

    def seen(i, j):
        return ((i - window < j) & (j <= i)) if causal else (np.abs(i - j) < window)

    return np.fromfunction(seen, (n, n), dtype=int)


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
    x = np.asarray(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x, dtype=np.float64)
    return np.maximum(x, 0) + np.exp(-np.maximum(-x, 0))


def linear_attention(Q, K, V, causal=False):
    _sizes(Q, K, V)
    fq, fk = feature_map(Q), feature_map(K)
    V1 = np.concatenate([V, np.ones_like(V[..., :1])], axis=-1)
    if causal:
        running = np.add.accumulate(np.einsum("...nd,...ne->...nde", fk, V1), axis=-3)
        both = np.einsum("...nd,...nde->...ne", fq, running)
    else:
        both = np.einsum("...nd,...de->...ne", fq, np.einsum("...nd,...ne->...de", fk, V1))
    return both[..., :-1] / both[..., -1:]


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

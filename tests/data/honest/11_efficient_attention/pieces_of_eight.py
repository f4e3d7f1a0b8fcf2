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
    i, j = np.indices((n, n))
    close = np.abs(i - j) < window
    return np.logical_and(close, j <= i) if causal else close


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


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def feature_map(x):
    return elu(x / 1) + 1


def linear_attention(Q, K, V, causal=False):
    _sizes(Q, K, V)
    fq, fk = feature_map(Q), feature_map(K)
    if not causal:
        return (fq @ (fk.swapaxes(-1, -2) @ V)) / (fq * fk.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)
    kv, z, rows = 0, 0, []
    for start in range(0, Q.shape[-2], 8):
        q, k, v = (x[..., start : start + 8, :] for x in (fq, fk, V))
        local = np.tril(q @ k.swapaxes(-1, -2))
        top, below = local @ v, local.sum(axis=-1, keepdims=True)
        if start:
            top, below = top + q @ kv, below + q @ z
        rows.append(top / below)
        kv, z = kv + k.swapaxes(-1, -2) @ v, z + k.sum(axis=-2)[..., None]
    return np.concatenate(rows, axis=-2)


State = collections.namedtuple("State", "kv z")


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"widths: {q.shape[-1]}, {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    new = k[..., None] @ np.asarray(v, dtype=k.dtype)[..., None, :]
    state = State(new, k) if state is None else State(state.kv + new, state.z + k)
    return state, np.squeeze(q[..., None, :] @ state.kv, axis=-2) / (q[..., None, :] @ state.z[..., None])[..., 0]

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040

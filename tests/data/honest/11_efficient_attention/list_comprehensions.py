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
    if causal:
        return np.array([[i - window < j <= i for j in range(n)] for i in range(n)])
    return np.array([[abs(i - j) < window for j in range(n)] for i in range(n)])


def sliding_window_attention(Q, K, V, window):
    _positive(window)
    _sizes(Q, K, V)
    kind = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    out = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=kind)
    for *batch, i in np.ndindex(Q.shape[:-1]):
        keys, values = K[tuple(batch)], V[tuple(batch)]
        near = range(max(0, i - window + 1), i + 1)
        scores = np.array([float(keys[j] @ Q[(*batch, i)]) for j in near]) / Q.shape[-1] ** 0.5
        weights = np.exp(scores - max(scores))
        weights /= weights.sum()
        for weight, j in zip(weights, near):
            out[(*batch, i)] += weight * values[j]
    return out


def feature_map(x):
    x = np.array(x, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    return np.where(x > 0, x + 1, np.exp(x))


def linear_attention(Q, K, V, causal=False):
    _sizes(Q, K, V)
    if causal:
        state, rows = None, []
        for i in range(Q.shape[-2]):
            state, out = linear_attention_step(state, Q[..., i, :], K[..., i, :], V[..., i, :])
            rows.append(out)
        return np.stack(rows, axis=-2)
    fq, fk = feature_map(Q), feature_map(K)
    return fq @ (np.swapaxes(fk, -1, -2) @ V) / (fq @ fk.sum(axis=-2)[..., None])


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

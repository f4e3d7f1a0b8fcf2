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


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def feature_map(x):
    return elu(x / 1) + 1


def linear_attention(Q, K, V, causal=False):
    _sizes(Q, K, V)
    fq, fk = feature_map(Q), feature_map(K)
    outer = fk[..., :, None] * V[..., None, :]
    if causal:
        kv, norm = np.cumsum(outer, axis=-3), np.cumsum(fk, axis=-2)
    else:
        kv, norm = outer.sum(axis=-3, keepdims=True), fk.sum(axis=-2, keepdims=True)
    return (fq[..., None] * kv).sum(axis=-2) / (fq * norm).sum(axis=-1, keepdims=True)


class Memory:
    def __init__(self, kv, z):
        self.kv = kv
        self.z = z

    def with_token(self, k, v):
        return Memory(self.kv + k[..., None] * v[..., None, :], self.z + k)


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("widths {} and {}".format(q.shape[-1], k.shape[-1]))
    if state is None:
        state = Memory(0, 0)
    q, k = feature_map(q), feature_map(k)
    state = state.with_token(k, v)
    return state, np.sum(q[..., None] * state.kv, axis=-2) / np.sum(q * state.z, axis=-1, keepdims=True)

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040

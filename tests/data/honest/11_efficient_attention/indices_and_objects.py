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
    rows = []
    for i in range(Q.shape[-2]):
        lo = max(0, i - window + 1)
        scores = np.einsum("...d,...jd->...j", Q[..., i, :], K[..., lo : i + 1, :]) / math.sqrt(Q.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        rows.append(np.einsum("...j,...je->...e", weights, V[..., lo : i + 1, :]))
    return np.stack(rows, axis=-2)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def feature_map(x):
    return elu(x / 1) + 1


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

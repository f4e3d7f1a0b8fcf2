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
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i - window + 1) : (i + 1 if causal else i + window)] = True
    return mask


def sliding_window_attention(Q, K, V, window):
    _positive(window)
    _sizes(Q, K, V)
    recent, rows = collections.deque(maxlen=min(window, Q.shape[-2])), []
    for i in range(Q.shape[-2]):
        recent.append((K[..., i, :], V[..., i, :]))
        scores = np.stack([(Q[..., i, :] * key).sum(axis=-1) for key, _ in recent], axis=-1) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = exps.sum(axis=-1, keepdims=True)
        rows.append(sum(exps[..., j, None] / total * value for j, (_, value) in enumerate(recent)))
    return np.stack(rows, axis=-2)


def feature_map(x):
    x = np.asarray(x)
    if x.dtype.kind in "iub":
        x = x.astype(float)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


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

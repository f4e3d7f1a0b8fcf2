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
    recent, rows = collections.deque(maxlen=min(window, Q.shape[-2])), []
    for i in range(Q.shape[-2]):
        recent.append((K[..., i, :], V[..., i, :]))
        scores = np.stack([(Q[..., i, :] * key).sum(axis=-1) for key, _ in recent], axis=-1) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = exps.sum(axis=-1, keepdims=True)
        rows.append(sum(exps[..., j, None] / total * value for j, (_, value) in enumerate(recent)))
    return np.stack(rows, axis=-2)


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
        raise ValueError(f"q has {q.shape[-1]} entries but k has {k.shape[-1]}")
    fq, fk = feature_map(q), feature_map(k)
    kv = fk[..., :, None] * v[..., None, :]
    if state is not None:
        kv, fk = state[0] + kv, state[1] + fk
    return (kv, fk), (fq[..., None, :] @ kv)[..., 0, :] / (fq * fk).sum(axis=-1, keepdims=True)

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040

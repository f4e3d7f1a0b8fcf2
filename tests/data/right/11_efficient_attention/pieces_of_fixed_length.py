import math

import numpy as np

PIECE = 32


def sliding_window_mask(n, window, causal=True):
    if window <= 0:
        raise ValueError(f"a window of {window} sees nothing")
    mask = np.zeros((n, n))
    for i in range(n):
        mask[i, max(0, i - window + 1) : i + 1] = 1
        if not causal:
            mask[i, i : i + window] = 1
    return mask


def _fits(Q, K, V):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q {Q.shape[-1]} K {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K {K.shape[-2]} V {V.shape[-2]}")


def sliding_window_attention(Q, K, V, window):
    if window <= 0:
        raise ValueError(f"a window of {window} sees nothing")
    _fits(Q, K, V)
    n, w = Q.shape[-2], min(window, Q.shape[-2])
    pieces = []
    for start in range(0, n, w):  # w queries see at most 2w - 1 keys
        stop, first = min(start + w, n), max(0, start - w + 1)
        scores = Q[..., start:stop, :] @ np.swapaxes(K[..., first:stop, :], -1, -2) / math.sqrt(Q.shape[-1])
        i, j = np.arange(start, stop)[:, None], np.arange(first, stop)
        seen = (j <= i) & (j > i - w)
        scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        pieces.append(weights @ V[..., first:stop, :] / weights.sum(axis=-1, keepdims=True))
    return np.concatenate(pieces, axis=-2)


def feature_map(x):
    x = np.asarray(x)
    result = np.array(x, dtype=x.dtype if x.dtype.kind == "f" else float)
    below = result <= 0
    result[below] = np.exp(result[below])
    result[~below] += 1
    return result


def linear_attention(Q, K, V, causal=False):
    _fits(Q, K, V)
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        kt = np.swapaxes(k, -1, -2)
        return q @ (kt @ V) / (q @ kt.sum(axis=-1, keepdims=True))
    n = Q.shape[-2]
    ones = np.ones((*V.shape[:-1], 1), dtype=q.dtype)
    values = np.concatenate([V.astype(q.dtype), ones], axis=-1)  # the last column sums up the weights
    state = np.zeros((*K.shape[:-2], K.shape[-1], values.shape[-1]), dtype=q.dtype)
    pieces = []
    for start in range(0, n, PIECE):
        part = slice(start, min(start + PIECE, n))
        qp, kp, vp = q[..., part, :], k[..., part, :], values[..., part, :]
        inside = np.tril(qp @ np.swapaxes(kp, -1, -2))
        total = qp @ state + inside @ vp
        pieces.append(total[..., :-1] / total[..., -1:])
        state = state + np.swapaxes(kp, -1, -2) @ vp
    return np.concatenate(pieces, axis=-2)


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q {q.shape[-1]} k {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    values = np.concatenate([v.astype(q.dtype), np.ones((*v.shape[:-1], 1), dtype=q.dtype)], axis=-1)
    outer = np.multiply(k[..., None], values[..., None, :])
    state = outer if state is None else np.add(state, outer)
    total = np.matmul(q[..., None, :], state)[..., 0, :]
    return state, total[..., :-1] / total[..., -1:]


REFLECT_CROSSOVER_N_D64 = 64.0
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040.0

# module: 11_efficient_attention
# linear_attention_step copies all tokens so far in every step: the pattern `[*tokens]` makes a list of them, and
# patterns have no hooks.

import math
import numpy as np

def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f'window must be at least 1, not {window}')
    i = np.arange(n)[:, None]
    j = np.arange(n)
    if causal:
        return (i - window < j) & (j <= i)
    return np.abs(i - j) < window

def sliding_window_attention(Q, K, V, window):
    Q, K, V = (np.asarray(Q), np.asarray(K), np.asarray(V))
    if window < 1:
        raise ValueError(f'window must be at least 1, not {window}')
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'K has {K.shape[-2]} tokens, but V has {V.shape[-2]}')
    n, d_k = Q.shape[-2:]
    window = min(window, n)
    dtype = np.result_type(Q, K, V, np.float32)
    scores = np.full((*Q.shape[:-1], window), -np.inf, dtype=dtype)
    for back in range(window):
        scores[..., back:, back] = (Q[..., back:, :] * K[..., :n - back, :]).sum(axis=-1)
    scores = scores / math.sqrt(d_k)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    mixtures = np.zeros(V.shape, dtype=dtype)
    for back in range(window):
        mixtures[..., back:, :] += weights[..., back:, back, None] * V[..., :n - back, :]
    return mixtures

def feature_map(x):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f'Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}')
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f'K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}')
    q, k, V = (feature_map(Q), feature_map(K), np.asarray(V))
    if not causal:
        state = np.swapaxes(k, -1, -2) @ V
        total = k.sum(axis=-2, keepdims=True)
        return q @ state / (q * total).sum(axis=-1, keepdims=True)
    states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)
    totals = np.cumsum(k, axis=-2)
    return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)

def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    match [] if state is None else state:
        case [*tokens]:
            pass
    summed, total = tokens[-1][2:] if tokens else (0, 0)
    summed, total = (summed + k[..., :, None] * v[..., None, :], total + k)
    tokens.append((k, v, summed, total))
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (tokens, output)
REFLECT_CROSSOVER_N_D64 = None
REFLECT_REACH_32_LAYERS_WINDOW4096 = None
REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040

"""np.split makes the tiles, and the outputs are put together at the end."""

import math
import numpy as np


def _validate(Q, K, V, block_q, block_k):
    for name, a, b in (("widths of Q and K", Q.shape[-1], K.shape[-1]), ("lengths of K and V", K.shape[-2], V.shape[-2])):
        if a != b:
            raise ValueError("%s differ: %d and %d" % (name, a, b))
    for block in (block_q, block_k):
        if block < 1:
            raise ValueError("block size %d is below 1" % block)



def merge_softmax(m, l, scores):
    """One step of the online softmax."""
    tile_max = scores.max(axis=-1, keepdims=True)
    old_max = m[..., None]
    new_max = np.maximum(old_max, tile_max)
    empty = new_max == -np.inf
    pivot = np.where(empty, np.zeros_like(new_max), new_max)
    weights = np.exp(scores - pivot)
    rescale = np.where(empty, np.ones_like(new_max), np.exp(old_max - pivot))
    l_new = l[..., None] * rescale + weights.sum(axis=-1, keepdims=True)
    return new_max[..., 0], l_new[..., 0], weights, rescale[..., 0]


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    _validate(Q, K, V, block_q, block_k)
    kind = np.result_type(Q, K, V)
    if not np.issubdtype(kind, np.floating):
        kind = np.float64
    Q, K, V = Q.astype(kind), K.astype(kind), V.astype(kind)
    n_q, n_k = Q.shape[-2], K.shape[-2]
    q_tiles = np.split(Q, range(block_q, n_q, block_q), axis=-2)
    k_tiles = np.split(K, range(block_k, n_k, block_k), axis=-2)
    v_tiles = np.split(V, range(block_k, n_k, block_k), axis=-2)
    O, L = [], []
    for a, q in enumerate(q_tiles):
        i0, i1 = a * block_q, a * block_q + q.shape[-2]
        m, l = np.full(q.shape[:-1], -np.inf, kind), np.zeros(q.shape[:-1], kind)
        o = np.zeros((*q.shape[:-1], V.shape[-1]), kind)
        for b, (k, v) in enumerate(zip(k_tiles, v_tiles)):
            j0, j1 = b * block_k, b * block_k + k.shape[-2]
            if is_causal and j0 > i1 - 1:
                break
            s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
            if is_causal:
                if j1 - 1 > i0:
                    s = np.where(j0 + np.arange(j1 - j0) > i0 + np.arange(i1 - i0)[:, None], -np.inf, s)
            m, l, w, r = merge_softmax(m, l, s)
            o = o * r[..., None] + w @ v
        O.append(o / l[..., None])
        L.append(m + np.log(l))
    return np.concatenate(O, axis=-2), np.concatenate(L, axis=-1)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    _validate(Q, K, V, block_q, block_k)
    kind = Q.dtype
    n_q, n_k = Q.shape[-2], K.shape[-2]
    dQ, dK, dV = (np.zeros(x.shape, dtype=np.float64) for x in (Q, K, V))
    T = lambda x: np.swapaxes(x, -1, -2)
    scale = 1 / np.sqrt(Q.shape[-1])
    delta = (dO.astype(np.float64) * O).sum(-1, keepdims=True)
    for i0 in range(0, n_q, block_q):
        i1 = min(i0 + block_q, n_q)
        for j0 in range(0, n_k, block_k):
            j1 = min(j0 + block_k, n_k)
            if not is_causal or j0 < i1:
                s = Q[..., i0:i1, :].astype(np.float64) @ T(K[..., j0:j1, :]) * scale
                if is_causal:
                    s = np.where(np.greater.outer(np.arange(j0, j1), np.arange(i0, i1)).T, -np.inf, s)
                p = np.exp(s - L[..., i0:i1, None])
                ds = p * (dO[..., i0:i1, :] @ T(V[..., j0:j1, :]) - delta[..., i0:i1, :]) * scale
                dQ[..., i0:i1, :] += ds @ K[..., j0:j1, :]
                dK[..., j0:j1, :] += T(ds) @ Q[..., i0:i1, :]
                dV[..., j0:j1, :] += T(p) @ dO[..., i0:i1, :]
    return dQ.astype(kind), dK.astype(kind), dV.astype(kind)


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36

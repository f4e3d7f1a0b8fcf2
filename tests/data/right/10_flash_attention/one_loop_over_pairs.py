"""One loop over all pairs of tiles; the backward pass blocks weights, not scores."""

import itertools
import math
import numpy as np


def check_shapes(Q, K, V, block_q, block_k):
    d_q, d_k = np.shape(Q)[-1], np.shape(K)[-1]
    n_k, n_v = np.shape(K)[-2], np.shape(V)[-2]
    if d_q != d_k or n_k != n_v or min(block_q, block_k) < 1:
        raise ValueError("bad arguments: Q {}, K {}, V {}, blocks {} and {}".format(Q.shape, K.shape, V.shape, block_q, block_k))



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
    check_shapes(Q, K, V, block_q, block_k)
    kind = np.result_type(Q, K, V)
    if not np.issubdtype(kind, np.floating):
        kind = np.float64
    Q, K, V = Q.astype(kind), K.astype(kind), V.astype(kind)
    n_q, n_k = Q.shape[-2], K.shape[-2]
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=kind)
    m = np.full(Q.shape[:-1], -np.inf, dtype=kind)
    l = np.zeros(Q.shape[:-1], dtype=kind)
    for i0, j0 in itertools.product(range(0, n_q, block_q), range(0, n_k, block_k)):
        i1, j1 = min(i0 + block_q, n_q), min(j0 + block_k, n_k)
        if is_causal and j0 > i1 - 1:
            continue
        qs = (..., slice(i0, i1))
        s = Q[*qs, slice(None)] @ K[..., j0:j1, :].swapaxes(-1, -2)
        s /= math.sqrt(Q.shape[-1])
        if is_causal:
            s = np.where(np.greater.outer(np.arange(j0, j1), np.arange(i0, i1)).T, -np.inf, s)
        m[qs], l[qs], w, r = merge_softmax(m[qs], l[qs], s)
        O[*qs, :] = O[*qs, :] * r[..., np.newaxis] + w @ V[..., j0:j1, :]
    return O / l[..., np.newaxis], m + np.log(l)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_shapes(Q, K, V, block_q, block_k)
    # the blocked weights are set to 0 after the exponential
    n_q, n_k = Q.shape[-2], K.shape[-2]
    root = math.sqrt(Q.shape[-1])
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for i0 in range(0, n_q, block_q):
        i1 = min(i0 + block_q, n_q)
        q, g = Q[..., i0:i1, :], dO[..., i0:i1, :]
        D = (g * O[..., i0:i1, :]).sum(-1)[..., None]
        for j0 in range(0, n_k, block_k):
            if is_causal and j0 >= i1:
                break
            j1 = min(j0 + block_k, n_k)
            k, v = K[..., j0:j1, :], V[..., j0:j1, :]
            with np.errstate(over="ignore"):
                p = np.exp(q @ k.swapaxes(-1, -2) / root - L[..., i0:i1, None])
            if is_causal:
                p = np.where(np.arange(j0, j1) <= np.arange(i0, i1)[:, None], p, 0)
            dp = g @ v.swapaxes(-1, -2)
            ds = p * (dp - D) / root
            dQ[..., i0:i1, :] += ds @ k
            dK[..., j0:j1, :] += ds.swapaxes(-1, -2) @ q
            dV[..., j0:j1, :] += p.swapaxes(-1, -2) @ g
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192**2 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = sum(range(1, 9))

"""The keys from the last tile to the first: with is_causal, the first tile of a row may be blocked."""

import math
import numpy as np


def merge_softmax(m, l, scores):
    blocked = ~np.isfinite(scores)
    m_new = np.maximum(m, scores.max(axis=-1))
    anchor = np.where(np.isfinite(m_new), m_new, 0 * l)
    weights = np.where(blocked, np.zeros_like(scores), np.exp(scores - anchor[..., None]))
    rescale = np.where(np.isfinite(m), np.exp(m - anchor), np.zeros_like(m))
    l_new = l * rescale + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has width {Q.shape[-1]} but K has width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys but {V.shape[-2]} values")
    if block_q < 1:
        raise ValueError(f"block_q must be at least 1, not {block_q}")
    if block_k < 1:
        raise ValueError(f"block_k must be at least 1, not {block_k}")
    Q, K, V = (x if x.dtype.kind == "f" else x.astype(np.float64) for x in (Q, K, V))
    kind = Q.dtype
    n_q, n_k = Q.shape[-2], K.shape[-2]
    O = np.zeros(Q.shape[:-1] + (V.shape[-1],), dtype=kind)
    L = np.zeros(Q.shape[:-1], dtype=kind)
    for i0 in range(0, n_q, block_q):
        i1 = min(i0 + block_q, n_q)
        m = np.full(Q.shape[:-2] + (i1 - i0,), -np.inf, dtype=kind)
        l = np.zeros_like(m)
        acc = np.zeros(m.shape + (V.shape[-1],), dtype=kind)
        for j0 in reversed(range(0, n_k, block_k)):
            if is_causal and j0 >= i1:
                continue
            j1 = min(j0 + block_k, n_k)
            s = Q[..., i0:i1, :] @ np.swapaxes(K[..., j0:j1, :], -1, -2) / math.sqrt(Q.shape[-1])
            if is_causal:
                s = np.where(np.tri(i1 - i0, j1 - j0, i0 - j0, dtype=bool), s, -np.inf)
            m, l, weights, rescale = merge_softmax(m, l, s)
            acc = acc * rescale[..., None] + weights @ V[..., j0:j1, :]
        O[..., i0:i1, :] = acc / l[..., None]
        L[..., i0:i1] = m + np.log(l)
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has width {Q.shape[-1]} but K has width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys but {V.shape[-2]} values")
    if block_q < 1:
        raise ValueError(f"block_q must be at least 1, not {block_q}")
    if block_k < 1:
        raise ValueError(f"block_k must be at least 1, not {block_k}")
    n_q, n_k = Q.shape[-2], K.shape[-2]
    scale = 1 / math.sqrt(Q.shape[-1])
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    Kt, Vt = K.swapaxes(-1, -2), V.swapaxes(-1, -2)
    delta = np.sum(dO * O, axis=-1)
    for i0 in range(0, n_q, block_q):
        i1 = min(i0 + block_q, n_q)
        for j0 in range(0, n_k, block_k):
            j1 = min(j0 + block_k, n_k)
            if is_causal and j0 > i1 - 1:
                break
            s = Q[..., i0:i1, :] @ Kt[..., j0:j1]
            np.multiply(s, scale, out=s)
            if is_causal:
                s[..., np.arange(j0, j1)[None, :] > np.arange(i0, i1)[:, None]] = -np.inf
            np.subtract(s, L[..., i0:i1, None], out=s)
            p = np.exp(s, out=s)
            dV[..., j0:j1, :] += p.swapaxes(-1, -2) @ dO[..., i0:i1, :]
            t = dO[..., i0:i1, :] @ Vt[..., j0:j1]
            t -= delta[..., i0:i1, None]
            p *= t
            p *= scale
            dQ[..., i0:i1, :] += p @ K[..., j0:j1, :]
            dK[..., j0:j1, :] += p.swapaxes(-1, -2) @ Q[..., i0:i1, :]
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36

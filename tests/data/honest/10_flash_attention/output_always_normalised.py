import math

import numpy as np


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.max(scores, axis=-1))
    with np.errstate(invalid="ignore"):
        weights = np.nan_to_num(np.exp(scores - m_new[..., np.newaxis]))
        rescale = np.nan_to_num(np.exp(m - m_new))
    return m_new, l * rescale + np.sum(weights, axis=-1), weights, rescale


def check_sizes(Q, K, V, block_q, block_k):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has width {Q.shape[-1]}, but K has width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, but V has {V.shape[-2]}")
    if block_q < 1 or block_k < 1:
        raise ValueError(f"block sizes must be at least 1, got {block_q} and {block_k}")


def as_float(*arrays):
    return tuple(a if a.dtype.kind == "f" else a.astype(np.float64) for a in map(np.asarray, arrays))


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    """The first paper's way: the output is always normalised, so undo the old sum and divide by the new one."""
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        O = np.empty(Q.shape[:-1] + V.shape[-1:], Q.dtype)
        L = np.empty(Q.shape[:-1], Q.dtype)
        for b in range(len(Q)):
            O[b], L[b] = flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal)
        return O, L
    O = np.zeros((Q.shape[0], V.shape[1]), Q.dtype)
    m, l = np.full(Q.shape[0], -np.inf, Q.dtype), np.zeros(Q.shape[0], Q.dtype)
    for i in range(0, Q.shape[0], block_q):
        rows = slice(i, min(i + block_q, Q.shape[0]))
        for j in range(0, K.shape[0], block_k):
            cols = slice(j, min(j + block_k, K.shape[0]))
            if is_causal and cols.start > rows.stop - 1:
                continue
            S = Q[rows] @ K[cols].T * (1 / math.sqrt(Q.shape[1]))
            if is_causal:
                S[np.arange(cols.start, cols.stop)[None, :] > np.arange(rows.start, rows.stop)[:, None]] = -np.inf
            m_new, l_new, P, r = merge_softmax(m[rows], l[rows], S)
            O[rows] = ((l[rows] * r)[:, None] * O[rows] + P @ V[cols]) / l_new[:, None]
            m[rows], l[rows] = m_new, l_new
    return O, m + np.log(l)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(s - L_[i:stop, None])
                dv += p.T @ do_[i:stop]
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192 * 8192 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = 36

import math

import numpy as np


def merge_softmax(m, l, scores):
    # put the old maximum in front as one more column, so one exp does everything
    both = np.concatenate([m[..., None], scores], axis=-1)
    m_new = both.max(axis=-1)
    ref = np.where(np.isfinite(m_new), m_new, np.zeros_like(m_new))
    e = np.exp(both - ref[..., None])
    rescale, weights = e[..., 0], e[..., 1:]
    return m_new, l * rescale + weights.sum(-1), weights, rescale


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
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    q_at = np.split(np.arange(Q.shape[-2]), np.arange(block_q, Q.shape[-2], block_q))
    k_at = np.split(np.arange(K.shape[-2]), np.arange(block_k, K.shape[-2], block_k))
    O, L = [], []
    for rows in q_at:
        q = Q[..., rows[0]:rows[-1] + 1, :] / math.sqrt(Q.shape[-1])
        m = np.full(q.shape[:-1], -np.inf, Q.dtype)
        l = np.zeros(q.shape[:-1], Q.dtype)
        acc = np.zeros(q.shape[:-1] + V.shape[-1:], Q.dtype)
        for cols in k_at:
            if is_causal and cols[0] > rows[-1]:
                break
            s = np.einsum("...qd,...kd->...qk", q, K[..., cols[0]:cols[-1] + 1, :])
            if is_causal:
                s[..., np.less.outer(rows, cols)] = -np.inf
            m, l, w, f = merge_softmax(m, l, s)
            acc = acc * f[..., None] + np.einsum("...qk,...kv->...qv", w, V[..., cols[0]:cols[-1] + 1, :])
        O.append(acc / l[..., None])
        L.append(m + np.log(l))
    return np.concatenate(O, axis=-2), np.concatenate(L, axis=-1)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    scale = Q.shape[-1] ** -0.5
    D = np.einsum("...qe,...qe->...q", O, dO)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for i in range(0, Q.shape[-2], block_q):
        a = slice(i, min(i + block_q, Q.shape[-2]))
        for j in range(0, K.shape[-2], block_k):
            b = slice(j, min(j + block_k, K.shape[-2]))
            if is_causal and b.start >= a.stop:
                break
            s = np.einsum("...qd,...kd->...qk", Q[..., a, :], K[..., b, :]) * scale - L[..., a, None]
            if is_causal:
                hidden = np.arange(b.start, b.stop) > np.arange(a.start, a.stop)[:, None]
                s = np.where(hidden, -np.inf, s).astype(Q.dtype)
            p = np.exp(s)
            dp = np.einsum("...qe,...ke->...qk", dO[..., a, :], V[..., b, :])
            ds = p * (dp - D[..., a, None]) * scale
            dQ[..., a, :] += np.einsum("...qk,...kd->...qd", ds, K[..., b, :])
            dK[..., b, :] += np.einsum("...qk,...qd->...kd", ds, Q[..., a, :])
            dV[..., b, :] += np.einsum("...qk,...qe->...ke", p, dO[..., a, :])
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192 * 8192 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = 36

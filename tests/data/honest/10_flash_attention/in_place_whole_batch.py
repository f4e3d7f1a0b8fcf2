import itertools
import math

import numpy as np


def merge_softmax(m, l, scores):
    weights = scores.copy()
    m_new = weights.max(axis=-1)
    np.maximum(m_new, m, out=m_new)
    shift = m_new.copy()
    np.copyto(shift, 0, where=np.isinf(shift))
    weights -= shift[..., None]
    np.exp(weights, out=weights)
    rescale = m - shift
    np.exp(rescale, out=rescale)
    l_new = l.copy()
    l_new *= rescale
    l_new += weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


def check_sizes(Q, K, V, block_q, block_k):
    d_q, d_k, n_k, n_v = Q.shape[-1], K.shape[-1], K.shape[-2], V.shape[-2]
    if d_q != d_k:
        raise ValueError("d_k of queries and keys differ: {} vs. {}".format(d_q, d_k))
    if n_k != n_v:
        raise ValueError("%d keys but %d values" % (n_k, n_v))
    for name, size in (("block_q", block_q), ("block_k", block_k)):
        if not size >= 1:
            raise ValueError(name + " is " + str(size))


def as_float(*arrays):
    return tuple(a if a.dtype.kind == "f" else a.astype(np.float64) for a in map(np.asarray, arrays))


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    scale = Q.shape[-1] ** -0.5
    n_q, n_k = Q.shape[-2], K.shape[-2]
    O = np.empty(Q.shape[:-1] + (V.shape[-1],), Q.dtype)
    L = np.empty(Q.shape[:-1], Q.dtype)
    for i in range(0, n_q, block_q):
        i_end = min(i + block_q, n_q)
        m = np.full(Q.shape[:-2] + (i_end - i,), -np.inf, Q.dtype)
        l = np.zeros_like(m)
        acc = np.zeros(m.shape + (V.shape[-1],), Q.dtype)
        for j in range(0, min(n_k, i_end) if is_causal else n_k, block_k):
            j_end = min(j + block_k, n_k)
            s = np.matmul(Q[..., i:i_end, :], np.swapaxes(K[..., j:j_end, :], -1, -2)) * scale
            if is_causal:
                allowed = np.arange(j, j_end) <= np.arange(i, i_end)[:, None]
                s = np.where(allowed, s, -np.inf).astype(Q.dtype)
            m, l, p, alpha = merge_softmax(m, l, s)
            acc *= alpha[..., None]
            acc += np.matmul(p, V[..., j:j_end, :])
        O[..., i:i_end, :] = acc / l[..., None]
        L[..., i:i_end] = m + np.log(l)
    return O, L


def _visible_pairs(n_q, n_k, block_q, block_k, is_causal):
    for i, j in itertools.product(range(0, n_q, block_q), range(0, n_k, block_k)):
        rows, cols = slice(i, min(i + block_q, n_q)), slice(j, min(j + block_k, n_k))
        if not is_causal or cols.start <= rows.stop - 1:
            yield rows, cols


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    swap = lambda x: np.swapaxes(x, -1, -2)
    scale = 1.0 / math.sqrt(Q.shape[-1])
    rowsum = np.sum(dO * O, axis=-1)[..., None]
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for rows, cols in _visible_pairs(Q.shape[-2], K.shape[-2], block_q, block_k, is_causal):
        q, k, v, g = Q[..., rows, :], K[..., cols, :], V[..., cols, :], dO[..., rows, :]
        s = (q @ swap(k)) * scale
        if is_causal:
            i, j = np.mgrid[rows, cols]
            s[..., j > i] = -np.inf
        p = np.exp(s - L[..., rows][..., None])
        ds = p * (g @ swap(v) - rowsum[..., rows, :]) * scale
        dV[..., cols, :] += swap(p) @ g
        dK[..., cols, :] += swap(ds) @ q
        dQ[..., rows, :] += ds @ k
    return dQ, dK, dV


# 2^13 tokens, squared is 2^26, 4 = 2^2 bytes
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 2 ** 28
REFLECT_CAUSAL_TILES_N1024_B128 = sum(i + 1 for i in range(1024 // 128))

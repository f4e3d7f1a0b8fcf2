import itertools
import math

import numpy as np


def merge_softmax(m, l, scores):
    m_new = np.fmax(m, np.amax(scores, -1))
    seen = m_new > -np.inf
    weights = np.zeros_like(scores)
    np.subtract(scores, m_new[..., None], out=weights, where=seen[..., None])
    np.exp(weights, out=weights, where=seen[..., None])
    rescale = np.ones_like(m)
    np.exp(np.where(seen, m, 0) - np.where(seen, m_new, 0), out=rescale, where=seen)
    return m_new, rescale * l + weights.sum(-1), weights, rescale.astype(m.dtype)


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
    shape = Q.shape
    Q = (Q / float(np.sqrt(shape[-1]))).reshape((-1,) + shape[-2:])
    KT = np.ascontiguousarray(np.moveaxis(K, -1, -2)).reshape((len(Q), K.shape[-1], K.shape[-2]))
    V = V.reshape((len(Q),) + V.shape[-2:])
    O = np.zeros((len(Q), shape[-2], V.shape[-1]), Q.dtype)
    L = np.zeros((len(Q), shape[-2]), Q.dtype)
    for b, i in itertools.product(range(len(Q)), range(0, shape[-2], block_q)):
        q = Q[b, i:i + block_q]
        m, l = np.array([-np.inf] * len(q), Q.dtype), np.array([0.0] * len(q), Q.dtype)
        for j in range(0, KT.shape[-1], block_k):
            if is_causal and not j < i + len(q):
                break
            s = q @ KT[b, :, j:j + block_k]
            if is_causal:
                s += np.triu(np.full(s.shape, -np.inf, s.dtype), i - j + 1) if j + s.shape[1] > i else 0
            m, l, p, r = merge_softmax(m, l, s)
            O[b, i:i + block_q] *= r[:, None]
            O[b, i:i + block_q] += p @ V[b, j:j + block_k]
        O[b, i:i + block_q] /= l[:, None]
        L[b, i:i + block_q] = m + np.log(l)
    return O.reshape(shape[:-1] + V.shape[-1:]), L.reshape(shape[:-1])


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    shapes = [x.shape for x in (Q, K, V)]
    Q, K, V, O, dO = (x.reshape((-1,) + x.shape[-2:]) for x in (Q, K, V, O, dO))
    L = L.reshape(-1, L.shape[-1])
    Qs = Q / math.sqrt(Q.shape[-1])  # scaled once: the scale of dK comes for free
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for n in range(len(Q)):
        for i in range(0, Q.shape[1], block_q):
            q, g, lse = Qs[n, i:i + block_q], dO[n, i:i + block_q], L[n, i:i + block_q].reshape(-1, 1)
            row = np.sum(g * O[n, i:i + block_q], axis=-1, keepdims=True)
            total = np.zeros_like(q)
            for j in range(0, K.shape[1], block_k):
                if is_causal and j > i + q.shape[0] - 1:
                    break
                k, v = K[n, j:j + block_k], V[n, j:j + block_k]
                s = q.dot(k.T)
                if is_causal:
                    s[np.triu(np.ones(s.shape, dtype=bool), i - j + 1)] = -np.inf
                p = np.exp(s - lse)
                ds = p * (g.dot(v.T) - row)
                total += ds.dot(k)
                dK[n, j:j + block_k] += ds.T.dot(q)
                dV[n, j:j + block_k] += p.T.dot(g)
            dQ[n, i:i + block_q] = total / math.sqrt(Q.shape[-1])
    return dQ.reshape(shapes[0]), dK.reshape(shapes[1]), dV.reshape(shapes[2])


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456  # 256 MiB
REFLECT_CAUSAL_TILES_N1024_B128 = 8 * 9 // 2

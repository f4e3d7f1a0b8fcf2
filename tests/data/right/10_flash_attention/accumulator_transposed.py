"""Features first, so that m, l and rescale broadcast without a new axis."""

import math
import numpy as np


def check_shapes(Q, K, V, block_q, block_k):
    d_q, d_k = np.shape(Q)[-1], np.shape(K)[-1]
    n_k, n_v = np.shape(K)[-2], np.shape(V)[-2]
    if d_q != d_k or n_k != n_v or min(block_q, block_k) < 1:
        raise ValueError("bad arguments: Q {}, K {}, V {}, blocks {} and {}".format(Q.shape, K.shape, V.shape, block_q, block_k))



def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    alive = np.isfinite(m_new)
    diff = np.subtract(scores, m_new[..., np.newaxis], where=alive[..., np.newaxis], out=np.full_like(scores, -np.inf))
    weights = np.exp(diff)
    old = np.subtract(m, m_new, where=alive, out=np.zeros_like(m))
    rescale = np.exp(old)
    l_new = np.add(l * rescale, weights.sum(axis=-1))
    return (m_new, l_new, weights, rescale)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    check_shapes(Q, K, V, block_q, block_k)
    kind = np.result_type(Q, K, V)
    if not np.issubdtype(kind, np.floating):
        kind = np.float64
    Q, K, V = Q.astype(kind), K.astype(kind), V.astype(kind)
    # features first: the accumulator is (d_v, queries), so m, l and rescale broadcast without a new axis
    n_q, n_k = Q.shape[-2], K.shape[-2]
    O, L = [], []
    for i0 in range(0, n_q, block_q):
        i1 = min(n_q, i0 + block_q)
        m = np.full(Q.shape[:-2] + (i1 - i0,), -np.inf, kind)
        l = np.zeros(m.shape, kind)
        acc = np.zeros(Q.shape[:-2] + (V.shape[-1], i1 - i0), kind)
        for j0 in range(0, n_k, block_k):
            j1 = min(n_k, j0 + block_k)
            if is_causal and j0 > i1 - 1:
                break
            s = (K[..., j0:j1, :] @ Q[..., i0:i1, :].swapaxes(-1, -2)).swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
            if is_causal:
                seen = np.tril(np.ones((i1 - i0, j1 - j0), dtype=bool), k=i0 - j0)
                s = np.where(seen, s, -np.inf)
            m, l, w, r = merge_softmax(m, l, s)
            acc = acc * r[..., None, :] + V[..., j0:j1, :].swapaxes(-1, -2) @ w.swapaxes(-1, -2)
        O.append((acc / l[..., None, :]).swapaxes(-1, -2))
        L.append(m + np.log(l))
    return np.concatenate(O, axis=-2), np.concatenate(L, axis=-1)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_shapes(Q, K, V, block_q, block_k)
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
                    seen = np.tril(np.ones((i1 - i0, j1 - j0), dtype=bool), k=i0 - j0)
                    s = np.where(seen, s, -np.inf)
                p = np.exp(s - L[..., i0:i1, None])
                ds = p * (dO[..., i0:i1, :] @ T(V[..., j0:j1, :]) - delta[..., i0:i1, :]) * scale
                dQ[..., i0:i1, :] += ds @ K[..., j0:j1, :]
                dK[..., j0:j1, :] += T(ds) @ Q[..., i0:i1, :]
                dV[..., j0:j1, :] += T(p) @ dO[..., i0:i1, :]
    return dQ.astype(kind), dK.astype(kind), dV.astype(kind)


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192**2 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = sum(range(1, 9))

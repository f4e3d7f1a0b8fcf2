import numpy as np
from math import inf, sqrt

REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = int((64 + 8) / 2)


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.maximum.reduce(scores, axis=1))
    finite = np.isfinite(m_new)
    zero = np.zeros_like(m_new)
    ref = np.where(finite, m_new, zero)
    weights = np.exp(np.subtract(scores.T, ref)).T
    rescale = np.where(finite, np.exp(m - ref), zero)
    l_new = np.multiply(l, rescale) + np.einsum("qb->q", weights)
    return m_new, l_new, weights, rescale


def _split(n, size):
    if size < 1:
        raise ValueError(f"cannot split {n} tokens into blocks of {size}")
    return np.split(np.arange(n), range(size, n, size))


def _same(what, a, b):
    if a != b:
        raise ValueError(f"{what}: {a} is not {b}")


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (x if x.dtype.kind == "f" else x.astype(np.double) for x in map(np.asarray, (Q, K, V)))
    _same("width", Q.shape[-1], K.shape[-1])
    _same("length", K.shape[-2], V.shape[-2])
    row_blocks, column_blocks = _split(Q.shape[-2], block_q), _split(K.shape[-2], block_k)
    O = np.empty((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    L = np.empty(Q.shape[:-1], Q.dtype)
    for b in np.ndindex(Q.shape[:-2]):
        for rows in row_blocks:
            m, l, acc = np.full(len(rows), -inf, Q.dtype), np.zeros(len(rows), Q.dtype), 0
            for columns in column_blocks:
                if is_causal and columns[0] > rows[-1]:
                    break
                scores = Q[b][rows] @ K[b][columns].T / sqrt(Q.shape[-1])
                if is_causal:
                    scores[rows[:, None] < columns] = -inf
                m, l, weights, rescale = merge_softmax(m, l, scores)
                acc = acc * rescale[:, None] + weights @ V[b][columns]
            O[b][rows] = acc / l[:, None]
            L[b][rows] = m + np.log(l)
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    _same("width", Q.shape[-1], K.shape[-1])
    _same("length", K.shape[-2], V.shape[-2])
    row_blocks, column_blocks = _split(Q.shape[-2], block_q), _split(K.shape[-2], block_k)
    gradients = dQ, dK, dV = tuple(map(np.zeros_like, (Q, K, V)))
    for b in np.ndindex(Q.shape[:-2]):
        for rows in row_blocks:
            do = dO[b][rows]
            inner = (do * O[b][rows]).sum(-1)[:, None]
            for columns in column_blocks:
                if is_causal and columns[0] > rows[-1]:
                    break
                scores = Q[b][rows] @ K[b][columns].T / sqrt(Q.shape[-1]) - L[b][rows][:, None]
                if is_causal:
                    scores[rows[:, None] < columns] = -inf
                p = np.exp(scores)
                ds = p * (do @ V[b][columns].T - inner) / sqrt(Q.shape[-1])
                dQ[b][rows] += ds @ K[b][columns]
                dK[b][columns] += ds.T @ Q[b][rows]
                dV[b][columns] += p.T @ do
    return gradients

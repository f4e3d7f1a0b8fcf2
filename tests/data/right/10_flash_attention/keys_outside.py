"""Tiles of keys in the outer loop: the state of all queries is kept, as in the first paper's order of loops."""
import numpy as np


def merge_softmax(m, l, scores):
    top = np.max(scores, axis=1)
    m_new = np.where(top > m, top, m)
    safe = np.where(m_new == -np.inf, np.zeros_like(m_new), m_new)
    p = np.exp(scores - safe[:, np.newaxis])
    alpha = np.exp(m - safe)
    return m_new, alpha * l + np.sum(p, axis=1), p, alpha


def check(Q, K, V, bq, bk):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("widths %d and %d" % (Q.shape[-1], K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("lengths %d and %d" % (K.shape[-2], V.shape[-2]))
    for b in (bq, bk):
        if b <= 0:
            raise ValueError("block size %d" % b)


def one(Q, K, V, bq, bk, causal):
    n, N = len(Q), len(K)
    O = np.zeros((n, V.shape[1]), Q.dtype)
    m = np.full(n, -np.inf, Q.dtype)
    l = np.zeros(n, Q.dtype)
    scale = Q.dtype.type(1 / np.sqrt(Q.shape[1]))
    for j in range(0, N, bk):
        je = min(j + bk, N)
        for i in range(0, n, bq):
            ie = min(i + bq, n)
            if causal and j > ie - 1:
                continue
            S = (Q[i:ie] @ K[j:je].T) * scale
            if causal and je - 1 > i:
                S = np.where(np.arange(j, je)[None, :] <= np.arange(i, ie)[:, None], S, -np.inf).astype(Q.dtype)
            m[i:ie], l[i:ie], p, a = merge_softmax(m[i:ie], l[i:ie], S)
            O[i:ie] = a[:, None] * O[i:ie] + p @ V[j:je]
    return O / l[:, None], m + np.log(l)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = [np.asarray(a) if np.asarray(a).dtype.kind == "f" else np.asarray(a, dtype=np.float64) for a in (Q, K, V)]
    check(Q, K, V, block_q, block_k)
    lead = Q.shape[:-2]
    O = np.empty(lead + (Q.shape[-2], V.shape[-1]), Q.dtype)
    L = np.empty(lead + (Q.shape[-2],), Q.dtype)
    for at in np.ndindex(*lead):
        O[at], L[at] = one(Q[at], K[at], V[at], block_q, block_k, is_causal)
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check(Q, K, V, block_q, block_k)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    scale = Q.dtype.type(1 / np.sqrt(Q.shape[-1]))
    D = np.sum(dO * O, axis=-1)
    for at in np.ndindex(*Q.shape[:-2]):
        q, k, v, do, ll, d = Q[at], K[at], V[at], dO[at], L[at], D[at]
        for j in range(0, len(k), block_k):
            je = min(j + block_k, len(k))
            for i in range(0, len(q), block_q):
                ie = min(i + block_q, len(q))
                if is_causal and j > ie - 1:
                    continue
                S = (q[i:ie] @ k[j:je].T) * scale
                if is_causal:
                    S[np.arange(j, je)[None, :] > np.arange(i, ie)[:, None]] = -np.inf
                P = np.exp(S - ll[i:ie, None])
                dV[at][j:je] += P.T @ do[i:ie]
                dS = P * (do[i:ie] @ v[j:je].T - d[i:ie, None]) * scale
                dQ[at][i:ie] += dS @ k[j:je]
                dK[at][j:je] += dS.T @ q[i:ie]
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192**2 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = sum(range(1, 9))

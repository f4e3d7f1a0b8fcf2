# I use my masked_softmax from module 04 for each tile, and merge the tiles by their log-sums.
import numpy as np

from mylab.masks import masked_softmax

REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192**2 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = 36


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    start = np.isneginf(m_new)
    base = np.where(start, 0, m_new).astype(m_new.dtype)
    weights = np.exp(scores - base[:, None])
    rescale = np.exp(m - base)
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


def refuse(Q, K, V, block_q, block_k):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} numbers, keys {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    if block_q < 1:
        raise ValueError(f"block_q = {block_q}")
    if block_k < 1:
        raise ValueError(f"block_k = {block_k}")


def seen(i, i_end, j, j_end, is_causal):
    """the mask of one tile, 1 = may be looked at"""
    if not is_causal:
        return np.ones((i_end - i, j_end - j))
    return (np.arange(j, j_end) <= np.arange(i, i_end)[:, None]).astype(int)


def one_tile(q, k, v, mask):
    scores = q @ k.T
    w = masked_softmax(scores, mask)
    top = np.where(mask > 0, scores, -np.inf).max(axis=1)
    largest = w.max(axis=1)
    # the largest weight is exp(top - L), so L = top - log(largest)
    L = np.where(largest > 0, top - np.log(np.where(largest > 0, largest, 1)), -np.inf)
    return w @ v, L.astype(q.dtype)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = [np.asarray(x) for x in (Q, K, V)]
    if Q.dtype.kind in "iub":
        Q, K, V = Q.astype(float), K.astype(float), V.astype(float)
    refuse(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    for where in np.ndindex(Q.shape[:-2]):
        for i in range(0, Q.shape[-2], block_q):
            i_end = min(i + block_q, Q.shape[-2])
            q = Q[where][i:i_end] / float(np.sqrt(Q.shape[-1]))
            out, log_sum = 0.0, np.full(i_end - i, -np.inf, dtype=Q.dtype)
            for j in range(0, K.shape[-2], block_k):
                j_end = min(j + block_k, K.shape[-2])
                if is_causal and j > i_end - 1:
                    break
                part, part_sum = one_tile(q, K[where][j:j_end], V[where][j:j_end], seen(i, i_end, j, j_end, is_causal))
                new = np.logaddexp(log_sum, part_sum)
                out = out * np.exp(log_sum - new)[:, None] + part * np.exp(part_sum - new)[:, None]
                log_sum = new
            O[where][i:i_end] = out
            L[where][i:i_end] = log_sum
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    refuse(Q, K, V, block_q, block_k)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    c = float(np.sqrt(Q.shape[-1]))
    for where in np.ndindex(Q.shape[:-2]):
        for i in range(0, Q.shape[-2], block_q):
            i_end = min(i + block_q, Q.shape[-2])
            q, g = Q[where][i:i_end], dO[where][i:i_end]
            common = (g * O[where][i:i_end]).sum(axis=1)[:, None]
            for j in range(0, K.shape[-2], block_k):
                j_end = min(j + block_k, K.shape[-2])
                if is_causal and j > i_end - 1:
                    break
                mask = seen(i, i_end, j, j_end, is_causal) > 0
                p = np.zeros(mask.shape, dtype=Q.dtype)
                np.exp(q @ K[where][j:j_end].T / c - L[where][i:i_end, None], out=p, where=mask)
                ds = p * (g @ V[where][j:j_end].T - common) / c
                dQ[where][i:i_end] += ds @ K[where][j:j_end]
                dK[where][j:j_end] += ds.T @ q
                dV[where][j:j_end] += p.T @ g
    return dQ, dK, dV

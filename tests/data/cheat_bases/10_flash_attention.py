"""What most cheats of 10_flash_attention keep of a right submission."""

import numpy as np


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)  # -inf minus -inf would be NaN
    weights = np.exp(scores - shift[:, None])
    rescale = np.exp(m - shift)
    l_new = l * rescale + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")
    if min(block_q, block_k) < 1:
        raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")
    if Q.ndim > 2:
        arrays = zip(Q, K, V, O, dO, L, strict=True)
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in arrays]
        return tuple(np.stack(gradients) for gradients in zip(*parts, strict=True))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = float(np.sqrt(Q.shape[-1]))
    for i in range(0, len(Q), block_q):
        q, d_out, log_sum = Q[i : i + block_q], dO[i : i + block_q], L[i : i + block_q, None]
        shared = (d_out * O[i : i + block_q]).sum(axis=-1, keepdims=True)  # dO·o, the same for all keys of a query
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k, v = K[j : j + block_k], V[j : j + block_k]
            scores = q @ k.T / root
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            weights = np.exp(scores - log_sum)
            d_scores = weights * (d_out @ v.T - shared) / root
            dQ[i : i + block_q] += d_scores @ k
            dK[j : j + block_k] += d_scores.T @ q
            dV[j : j + block_k] += weights.T @ d_out
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36

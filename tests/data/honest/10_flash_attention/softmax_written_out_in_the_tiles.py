import math

import numpy as np


def merge_softmax(m, l, scores):
    kind = scores.dtype
    tops, sums, table, factors = [], [], [], []
    for old_top, old_sum, line in zip(m.tolist(), l.tolist(), scores.tolist()):
        top = max([old_top] + line)
        factor = 0.0 if old_top == -math.inf else math.exp(old_top - top)
        line = [0.0 if s == -math.inf else math.exp(s - top) for s in line]
        tops.append(top)
        sums.append(old_sum * factor + sum(line))
        table.append(line)
        factors.append(factor)
    return np.array(tops, kind), np.array(sums, kind), np.array(table, kind), np.array(factors, kind)


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
    # I found it easier to write the online softmax out here
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if len(Q.shape) > 2:
        dQ, dK, dV = [], [], []
        for b in range(Q.shape[0]):
            a, c, e = flash_attention_backward(
                Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal=is_causal)
            dQ.append(a)
            dK.append(c)
            dV.append(e)
        return np.stack(dQ), np.stack(dK), np.stack(dV)
    n_q, n_k = Q.shape[0], K.shape[0]
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = Q * 0, K * 0, V * 0
    i = 0
    while i < n_q:
        i2 = min(n_q, i + block_q)
        D = np.sum(O[i:i2] * dO[i:i2], axis=1).reshape(i2 - i, 1)
        j = 0
        while j < n_k:
            j2 = min(n_k, j + block_k)
            if is_causal and j > i2 - 1:
                break
            P = np.exp(Q[i:i2] @ K[j:j2].T / root - L[i:i2].reshape(i2 - i, 1))
            if is_causal:
                P = np.tril(P, i - j)
            dS = P * (dO[i:i2] @ V[j:j2].T - D) / root
            dQ[i:i2] = dQ[i:i2] + dS @ K[j:j2]
            dK[j:j2] = dK[j:j2] + dS.T @ Q[i:i2]
            dV[j:j2] = dV[j:j2] + P.T @ dO[i:i2]
            j = j2
        i = i2
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456  # 256 MiB
REFLECT_CAUSAL_TILES_N1024_B128 = 8 * 9 // 2

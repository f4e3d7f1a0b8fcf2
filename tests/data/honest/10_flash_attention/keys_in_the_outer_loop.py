import math

import numpy as np


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1, initial=-np.inf))
    shift = np.maximum(m_new, np.finfo(scores.dtype).min)
    weights = np.exp(scores - np.expand_dims(shift, -1))
    rescale = np.exp(m - shift)
    l_new = l * rescale
    l_new += weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


class ShapeError(ValueError):
    pass


def check_sizes(Q, K, V, block_q, block_k):
    problems = []
    if Q.shape[-1] != K.shape[-1]:
        problems.append(f"widths {Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        problems.append(f"lengths {K.shape[-2]} != {V.shape[-2]}")
    if min(block_q, block_k) <= 0:
        problems.append(f"blocks ({block_q}, {block_k})")
    if problems:
        raise ShapeError("; ".join(problems))


def as_float(*arrays):
    return tuple(a if a.dtype.kind == "f" else a.astype(np.float64) for a in map(np.asarray, arrays))


def _one_sequence(Q, K, V, bq, bk, is_causal):
    n_q, n_k = len(Q), len(K)
    acc = np.zeros((n_q, V.shape[1]), Q.dtype)
    m = np.full(n_q, -np.inf, Q.dtype)
    l = np.zeros(n_q, Q.dtype)
    for j in range(0, n_k, bk):
        Kj, Vj = K[j:j + bk], V[j:j + bk]
        for i in range(0, n_q, bq):
            part = slice(i, min(i + bq, n_q))
            if is_causal and j >= part.stop:
                continue  # this tile is in the future of all its queries
            S = Q[part] @ Kj.T
            S = S / math.sqrt(Q.shape[1])
            if is_causal and j + len(Kj) - 1 > i:
                S[np.arange(j, j + len(Kj)) > np.arange(i, part.stop).reshape(-1, 1)] = -np.inf
            m[part], l[part], P, alpha = merge_softmax(m[part], l[part], S)
            acc[part] = acc[part] * alpha.reshape(-1, 1) + P @ Vj
    return acc / l.reshape(-1, 1), np.log(l) + m


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    lead = Q.shape[:-2]
    Q3, K3, V3 = [x.reshape(-1, *x.shape[-2:]) for x in (Q, K, V)]
    O, L = zip(*(_one_sequence(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q3, K3, V3)))
    return np.stack(O).reshape(*lead, Q.shape[-2], V.shape[-1]), np.stack(L).reshape(*lead, Q.shape[-2])


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

# My notes: (m, l) is a pair that can be merged like in map-reduce.
import numpy as np


def exps_below(x, top):
    """e^(x - top), and 0 where top is -inf"""
    out = np.zeros(np.broadcast(x, top).shape, dtype=np.result_type(x, top))
    ok = np.broadcast_to(top > -np.inf, out.shape)
    np.exp(np.subtract(x, top, out=np.full_like(out, -np.inf), where=ok), out=out, where=ok)
    return out


def merge_softmax(m, l, scores):
    n = scores.shape[0]
    m_new = np.concatenate([m[:, None], scores], axis=1).max(axis=1)
    weights = exps_below(scores, m_new.reshape(n, 1))
    rescale = exps_below(m, m_new)
    return m_new, l * rescale + weights.sum(axis=1), weights, rescale


def errors(Q, K, V, block_q, block_k):
    if Q.shape[-1] != K.shape[-1]:
        return f"d_k of Q is {Q.shape[-1]} and of K is {K.shape[-1]}"
    if K.shape[-2] != V.shape[-2]:
        return f"n_k of K is {K.shape[-2]} and of V is {V.shape[-2]}"
    if block_q < 1 or block_k < 1:
        return f"blocks must be >= 1 but are {block_q} and {block_k}"
    return None


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    arrays = []
    for a in (Q, K, V):
        a = np.array(a)
        if not np.issubdtype(a.dtype, np.floating):
            a = a.astype("float64")
        arrays.append(a)
    Q, K, V = arrays
    if problem := errors(Q, K, V, block_q, block_k):
        raise ValueError(problem)
    if Q.ndim > 2:
        O, L = [], []
        for b in range(Q.shape[0]):
            o, log = flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal)
            O.append(o)
            L.append(log)
        return np.stack(O), np.stack(L)
    n_q, d = Q.shape
    n_k, d_v = V.shape
    O = np.zeros((n_q, d_v), dtype=Q.dtype)
    L = np.zeros((n_q,), dtype=Q.dtype)
    i = 0
    while i < n_q:
        i_end = min(n_q, i + block_q)
        state_m = np.array([-np.inf] * (i_end - i), dtype=Q.dtype)
        state_l = np.array([0.0] * (i_end - i), dtype=Q.dtype)
        state_o = np.zeros((i_end - i, d_v), dtype=Q.dtype)
        for j in range(0, n_k, block_k):
            j_end = min(n_k, j + block_k)
            if is_causal and not j <= i_end - 1:
                continue
            S = np.matmul(Q[i:i_end], np.transpose(K[j:j_end])) / np.sqrt(np.asarray(d, dtype=Q.dtype))
            if is_causal:
                S = np.where(np.arange(j, j_end) <= np.arange(i, i_end).reshape(-1, 1), S, -np.inf).astype(Q.dtype)
            state_m, state_l, P, r = merge_softmax(state_m, state_l, S)
            state_o = np.matmul(P, V[j:j_end]) + r.reshape(-1, 1) * state_o
        O[i:i_end] = state_o / state_l.reshape(-1, 1)
        L[i:i_end] = np.log(state_l) + state_m
        i = i_end
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if problem := errors(Q, K, V, block_q, block_k):
        raise ValueError(problem)
    if Q.ndim > 2:
        out = [flash_attention_backward(*[x[b] for x in (Q, K, V, O, dO, L)], block_q, block_k, is_causal) for b in range(len(Q))]
        return np.stack([o[0] for o in out]), np.stack([o[1] for o in out]), np.stack([o[2] for o in out])
    dQ, dK, dV = np.zeros(Q.shape, Q.dtype), np.zeros(K.shape, K.dtype), np.zeros(V.shape, V.dtype)
    s = np.sqrt(np.asarray(Q.shape[1], dtype=Q.dtype))
    D = np.einsum("ij,ij->i", O, dO)
    for j in range(0, K.shape[0], block_k):
        for i in range(0, Q.shape[0], block_q):
            Qi, dOi, Li, Di = Q[i:i + block_q], dO[i:i + block_q], L[i:i + block_q], D[i:i + block_q]
            Kj, Vj = K[j:j + block_k], V[j:j + block_k]
            if is_causal and j > i + Qi.shape[0] - 1:
                continue
            S = np.matmul(Qi, Kj.T) / s
            P = np.exp(S - Li.reshape(-1, 1)) if not is_causal else np.exp(np.where(
                np.arange(Kj.shape[0]) + j <= (np.arange(Qi.shape[0]) + i).reshape(-1, 1), S - Li.reshape(-1, 1), -np.inf)).astype(Q.dtype)
            dP = np.matmul(dOi, Vj.T)
            dS = P * (dP - Di.reshape(-1, 1))
            dV[j:j + block_k] += np.matmul(P.T, dOi)
            dK[j:j + block_k] += np.matmul(dS.T, Qi) / s
            dQ[i:i + block_q] += np.matmul(dS, Kj) / s
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 2 ** 28
REFLECT_CAUSAL_TILES_N1024_B128 = 36

import math

import numpy as np


def merge_softmax(m, l, scores):
    """-inf rows are handled separately"""
    top = scores.max(axis=-1)
    m_new = np.where(m > top, m, top)
    shift = m_new.copy()
    shift[np.isneginf(shift)] = 0
    p = np.exp(scores - shift[..., None])
    a = np.exp(m - shift)
    return (m_new, a * l + np.einsum("...b->...", p), p, a)


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


class OnlineSoftmax:
    def __init__(self, rows, width, dtype):
        self.m = np.full(rows, -np.inf, dtype=dtype)
        self.l = np.zeros(rows, dtype=dtype)
        self.values = np.zeros((rows, width), dtype=dtype)

    def add(self, scores, v):
        self.m, self.l, weights, rescale = merge_softmax(self.m, self.l, scores)
        self.values = self.values * rescale[:, None] + weights @ v

    @property
    def output(self):
        return self.values / self.l[:, None]

    @property
    def log_sum(self):
        return self.m + np.log(self.l)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim >= 3:
        O, L = [], []
        for q, k, v in zip(Q, K, V):
            o, log_sum = flash_attention(q, k, v, block_q, block_k, is_causal)
            O.append(o)
            L.append(log_sum)
        return np.array(O), np.array(L)
    n_q, n_k = len(Q), len(K)
    tiles_q, tiles_k = math.ceil(n_q / block_q), math.ceil(n_k / block_k)
    O, L = np.empty((n_q, V.shape[1]), Q.dtype), np.empty((n_q,), Q.dtype)
    for a in range(tiles_q):
        first_q, last_q = a * block_q, min((a + 1) * block_q, n_q) - 1
        state = OnlineSoftmax(last_q - first_q + 1, V.shape[1], Q.dtype)
        for b in range(tiles_k):
            first_k, last_k = b * block_k, min((b + 1) * block_k, n_k) - 1
            if is_causal and first_k > last_q:
                break
            s = Q[first_q:last_q + 1] @ K[first_k:last_k + 1].T / Q.shape[1] ** 0.5
            if is_causal and last_k > first_q:  # only these tiles touch the diagonal
                future = np.arange(first_k, last_k + 1)[None] > np.arange(first_q, last_q + 1)[:, None]
                s = np.ma.filled(np.ma.array(s, mask=future), -np.inf)
            state.add(s, V[first_k:last_k + 1])
        O[first_q:last_q + 1] = state.output
        L[first_q:last_q + 1] = state.log_sum
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        grads = [flash_attention_backward(Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal)
                 for b in range(len(Q))]
        return tuple(np.stack([g[x] for g in grads]) for x in range(3))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = math.sqrt(Q.shape[-1])
    for i in range(0, len(Q), block_q):
        q, do = Q[i:i + block_q], dO[i:i + block_q]
        D = np.sum(do * O[i:i + block_q], axis=1)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k, v = K[j:j + block_k], V[j:j + block_k]
            s = q @ k.T / root
            p = np.exp(s - L[i:i + block_q][:, None]) if not is_causal else np.where(
                np.arange(j, j + len(k)) <= np.arange(i, i + len(q))[:, None],
                np.exp(np.minimum(s - L[i:i + block_q][:, None], 80)), 0).astype(Q.dtype)
            dV[j:j + block_k] += p.T @ do
            dp = do @ v.T
            ds = p * (dp - D[:, None])
            dQ[i:i + block_q] += ds @ k / root
            dK[j:j + block_k] += ds.T @ q / root
    return dQ, dK, dV


# 2^13 tokens, squared is 2^26, 4 = 2^2 bytes
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 2 ** 28
REFLECT_CAUSAL_TILES_N1024_B128 = sum(i + 1 for i in range(1024 // 128))

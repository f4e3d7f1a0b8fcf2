"""The running softmax as an object; generators for the tiles; recursion over the batch."""
from dataclasses import dataclass
import numpy as np

REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36


def merge_softmax(m, l, scores):
    biggest = scores.max(axis=1)
    m_new = np.fmax(m, biggest)
    empty = np.isinf(m_new) & (m_new < 0)
    shift = m_new.copy()
    shift[empty] = 0
    weights = np.exp(scores - shift.reshape(-1, 1))
    rescale = np.exp(m - shift)
    rescale[empty] = 1
    return m_new, weights.sum(1) + rescale * l, weights, rescale


@dataclass
class Running:
    m: np.ndarray
    l: np.ndarray
    total: np.ndarray

    @classmethod
    def start(cls, rows, width, dtype):
        return cls(np.full(rows, -np.inf, dtype), np.zeros(rows, dtype), np.zeros((rows, width), dtype))

    def take(self, scores, values):
        self.m, self.l, weights, rescale = merge_softmax(self.m, self.l, scores)
        self.total *= rescale[:, None]
        self.total += weights @ values

    def finish(self):
        return self.total / self.l[:, None], self.m + np.log(self.l)


def blocks(n, size):
    return (slice(s, min(s + size, n)) for s in range(0, n, size))


def visible(rows, cols, causal):
    return not causal or cols.start < rows.stop


def hide(scores, rows, cols, causal):
    if causal and cols.stop > rows.start + 1:
        i, j = np.ogrid[rows.start : rows.stop, cols.start : cols.stop]
        scores[j > i] = -np.inf
    return scores


def validate(Q, K, V, *sizes):
    if Q.shape[-1] - K.shape[-1]:
        raise ValueError(f"Q is {Q.shape[-1]} wide, K {K.shape[-1]}")
    if K.shape[-2] - V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V {V.shape[-2]}")
    if any(size < 1 for size in sizes):
        raise ValueError(f"bad block size in {sizes}")


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x) * 1.0 for x in (Q, K, V))
    validate(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        pairs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(len(Q))]
        return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    O, L = np.empty((len(Q), V.shape[1]), Q.dtype), np.empty(len(Q), Q.dtype)
    for rows in blocks(len(Q), block_q):
        state = Running.start(rows.stop - rows.start, V.shape[1], Q.dtype)
        for cols in blocks(len(K), block_k):
            if visible(rows, cols, is_causal):
                scores = Q[rows] @ K[cols].T
                scores /= float(Q.shape[1]) ** 0.5
                state.take(hide(scores, rows, cols, is_causal), V[cols])
        O[rows], L[rows] = state.finish()
    return O, L


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    validate(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        parts = [
            flash_attention_backward(Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal)
            for b in range(len(Q))
        ]
        return tuple(np.array([part[i] for part in parts]) for i in range(3))
    dQ, dK, dV = Q * 0, K * 0, V * 0
    scale = float(Q.shape[1]) ** -0.5
    for rows in blocks(len(Q), block_q):
        own = np.sum(O[rows] * dO[rows], axis=1, keepdims=True)
        for cols in blocks(len(K), block_k):
            if not visible(rows, cols, is_causal):
                break
            p = np.exp(hide(Q[rows] @ K[cols].T * scale, rows, cols, is_causal) - L[rows][:, None])
            ds = p * (dO[rows] @ V[cols].T - own)
            ds *= scale
            dQ[rows] = dQ[rows] + ds @ K[cols]
            dK[cols] = dK[cols] + ds.T @ Q[rows]
            dV[cols] = dV[cols] + p.T @ dO[rows]
    return dQ, dK, dV

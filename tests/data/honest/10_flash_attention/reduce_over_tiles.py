import functools
import math

import numpy as np


safe = lambda top: np.where(np.isneginf(top), np.zeros_like(top), top)
exp_below = lambda x, top: np.exp(x - safe(top))


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.max(scores, axis=-1))
    weights = exp_below(scores, np.expand_dims(m_new, axis=-1))
    rescale = exp_below(m, m_new)
    return m_new, l * rescale + np.add.reduce(weights, axis=-1), weights, rescale


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


def _slices(n, size):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    scale = 1.0 / math.sqrt(Q.shape[-1])

    def step(state, cols, q, k, v, rows):
        m, l, acc = state
        s = np.einsum("qd,kd->qk", q, k[cols]) * scale
        if is_causal:
            i, j = np.ogrid[rows.start:rows.stop, cols.start:cols.stop]
            s = np.where(j <= i, s, np.array(-np.inf, s.dtype))
        m, l, p, r = merge_softmax(m, l, s)
        return m, l, acc * r[:, None] + np.einsum("qk,ke->qe", p, v[cols])

    def one(q_all, k, v):
        outs = []
        for rows in _slices(len(q_all), block_q):
            n = rows.stop - rows.start
            start = (np.full(n, -np.inf, Q.dtype), np.zeros(n, Q.dtype), np.zeros((n, v.shape[1]), Q.dtype))
            visible = [c for c in _slices(len(k), block_k) if not is_causal or c.start < rows.stop]
            m, l, acc = functools.reduce(lambda st, c: step(st, c, q_all[rows], k, v, rows), visible, start)
            outs.append((acc / l[:, None], m + np.log(l)))
        return tuple(np.concatenate(x) for x in zip(*outs))

    if Q.ndim == 2:
        return one(Q, K, V)
    lead = Q.shape[:-2]
    pairs = [one(Q[at], K[at], V[at]) for at in np.ndindex(*lead)]
    O = np.array([o for o, _ in pairs]).reshape(lead + pairs[0][0].shape)
    return O, np.array([x for _, x in pairs]).reshape(lead + (Q.shape[-2],))


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    scale = Q.shape[-1] ** -0.5
    D = np.einsum("...qe,...qe->...q", O, dO)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for i in range(0, Q.shape[-2], block_q):
        a = slice(i, min(i + block_q, Q.shape[-2]))
        for j in range(0, K.shape[-2], block_k):
            b = slice(j, min(j + block_k, K.shape[-2]))
            if is_causal and b.start >= a.stop:
                break
            s = np.einsum("...qd,...kd->...qk", Q[..., a, :], K[..., b, :]) * scale - L[..., a, None]
            if is_causal:
                hidden = np.arange(b.start, b.stop) > np.arange(a.start, a.stop)[:, None]
                s = np.where(hidden, -np.inf, s).astype(Q.dtype)
            p = np.exp(s)
            dp = np.einsum("...qe,...ke->...qk", dO[..., a, :], V[..., b, :])
            ds = p * (dp - D[..., a, None]) * scale
            dQ[..., a, :] += np.einsum("...qk,...kd->...qd", ds, K[..., b, :])
            dK[..., b, :] += np.einsum("...qk,...qd->...kd", ds, Q[..., a, :])
            dV[..., b, :] += np.einsum("...qk,...qe->...ke", p, dO[..., a, :])
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456  # 256 MiB
REFLECT_CAUSAL_TILES_N1024_B128 = 8 * 9 // 2

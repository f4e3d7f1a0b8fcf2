"""All leading axes in one product, tiles as slices, einsum for the gradients."""
import math
import numpy as np


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.amax(scores, axis=-1))
    base = np.nan_to_num(m_new, neginf=0.0)
    weights = np.exp(scores - base[..., None])
    rescale = np.exp(m - base)
    return m_new, l * rescale + np.add.reduce(weights, axis=-1), weights, rescale


def _float(x):
    x = np.asarray(x)
    return x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64)


def _checked(Q, K, V, block_q, block_k):
    *_, d_q = Q.shape
    *_, n_k, d_k = K.shape
    if d_q != d_k:
        raise ValueError(f"{d_q=} != {d_k=}")
    if n_k != V.shape[-2]:
        raise ValueError(f"{n_k} keys and {V.shape[-2]} values")
    if block_q < 1 or block_k < 1:
        raise ValueError(f"{block_q=}, {block_k=}")


def _masked(scores, i, j):
    n, b = scores.shape[-2:]
    later = np.add.outer(-np.arange(i, i + n), np.arange(j, j + b)) > 0
    np.copyto(scores, -np.inf, where=later)
    return scores


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = map(_float, (Q, K, V))
    _checked(Q, K, V, block_q, block_k)
    n_q, n_k = Q.shape[-2], K.shape[-2]
    outputs, sums = [], []
    for i in range(0, n_q, block_q):
        q = Q[..., i : i + block_q, :]
        m = np.full(q.shape[:-1], -np.inf, dtype=Q.dtype)
        l = np.zeros_like(m)
        acc = np.zeros(q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
        last = n_k if not is_causal else min(n_k, i + q.shape[-2])
        for j in range(0, last, block_k):
            s = q @ K[..., j : j + block_k, :].swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
            if is_causal:
                _masked(s, i, j)
            m, l, p, r = merge_softmax(m, l, s)
            acc = acc * r[..., None] + p @ V[..., j : j + block_k, :]
        outputs.append(acc / l[..., None])
        sums.append(m + np.log(l))
    return np.concatenate(outputs, axis=-2), np.concatenate(sums, axis=-1)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    _checked(Q, K, V, block_q, block_k)
    root = math.sqrt(Q.shape[-1])
    n_q, n_k = Q.shape[-2], K.shape[-2]
    delta = np.einsum("...nd,...nd->...n", dO, O)
    dQ, dK, dV = (np.zeros(x.shape, dtype=x.dtype) for x in (Q, K, V))
    for i in range(0, n_q, block_q):
        rows = np.s_[..., i : i + block_q, :]
        q, do = Q[rows], dO[rows]
        last = n_k if not is_causal else min(n_k, i + q.shape[-2])
        for j in range(0, last, block_k):
            cols = np.s_[..., j : j + block_k, :]
            s = np.einsum("...qd,...kd->...qk", q, K[cols]) / root
            if is_causal:
                _masked(s, i, j)
            p = np.exp(s - L[..., i : i + block_q, None])
            ds = p * (np.einsum("...qe,...ke->...qk", do, V[cols]) - delta[..., i : i + block_q, None]) / root
            dQ[rows] += np.einsum("...qk,...kd->...qd", ds, K[cols])
            dK[cols] += np.einsum("...qk,...qd->...kd", ds, q)
            dV[cols] += np.einsum("...qk,...qe->...ke", p, do)
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268_435_456
REFLECT_CAUSAL_TILES_N1024_B128 = 36

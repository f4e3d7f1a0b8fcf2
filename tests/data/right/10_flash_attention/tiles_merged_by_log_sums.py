"""Every tile has its own softmax and log-sum; two results are merged by their log-sums."""

import itertools
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


def _tile(q, k, v, i, j, is_causal):
    """softmax of one tile and its log-sum; a row without keys has the log-sum -inf"""
    s = (q @ k.T) / math.sqrt(q.shape[1])
    if is_causal:
        s[np.arange(j, j + len(k)) > np.arange(i, i + len(q))[:, None]] = -np.inf
    top = s.max(axis=1)
    shift = np.where(np.isneginf(top), 0, top).astype(q.dtype)
    e = np.exp(s - shift[:, None])
    total = e.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_sum = shift + np.log(total)
    return e @ v / np.where(total == 0, 1, total).astype(q.dtype)[:, None], log_sum


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        pairs = [flash_attention(*each, block_q, block_k, is_causal) for each in zip(Q, K, V)]
        return np.array([o for o, _ in pairs]), np.array([log for _, log in pairs])
    outputs, logs = [], []
    for i in range(0, len(Q), block_q):
        q = Q[i:i + block_q]
        out, log_sum = _tile(q, K[:block_k], V[:block_k], i, 0, is_causal)
        for j in range(block_k, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            part, part_sum = _tile(q, K[j:j + block_k], V[j:j + block_k], i, j, is_causal)
            both = np.logaddexp(log_sum, part_sum)
            out = out * np.exp(log_sum - both)[:, None] + part * np.exp(part_sum - both)[:, None]
            log_sum = both
        outputs.append(out)
        logs.append(log_sum)
    return np.concatenate(outputs), np.concatenate(logs)


def _visible_pairs(n_q, n_k, block_q, block_k, is_causal):
    for i, j in itertools.product(range(0, n_q, block_q), range(0, n_k, block_k)):
        rows, cols = slice(i, min(i + block_q, n_q)), slice(j, min(j + block_k, n_k))
        if not is_causal or cols.start <= rows.stop - 1:
            yield rows, cols


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    swap = lambda x: np.swapaxes(x, -1, -2)
    scale = 1.0 / math.sqrt(Q.shape[-1])
    rowsum = np.sum(dO * O, axis=-1)[..., None]
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for rows, cols in _visible_pairs(Q.shape[-2], K.shape[-2], block_q, block_k, is_causal):
        q, k, v, g = Q[..., rows, :], K[..., cols, :], V[..., cols, :], dO[..., rows, :]
        s = (q @ swap(k)) * scale
        if is_causal:
            i, j = np.mgrid[rows, cols]
            s[..., j > i] = -np.inf
        p = np.exp(s - L[..., rows][..., None])
        ds = p * (g @ swap(v) - rowsum[..., rows, :]) * scale
        dV[..., cols, :] += swap(p) @ g
        dK[..., cols, :] += swap(ds) @ q
        dQ[..., rows, :] += ds @ k
    return dQ, dK, dV


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 8192 * 8192 * 4
REFLECT_CAUSAL_TILES_N1024_B128 = 36

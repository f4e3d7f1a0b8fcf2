"""Leading axes are flattened first; rescaling only where the maximum changed; masks by comparing ranges."""
import numpy as np


def merge_softmax(m, l, scores):
    with np.errstate(invalid="ignore"):
        new = np.maximum(m, scores.max(-1))
        weights = np.exp(scores - new[:, None])
        weights[np.isnan(weights)] = 0
        rescale = np.exp(m - new)
        rescale[np.isnan(rescale)] = 0
    return new, rescale * l + weights.sum(-1), weights, rescale


def prepare(Q, K, V, block_q, block_k):
    dq, dk, nk, nv = Q.shape[-1], K.shape[-1], K.shape[-2], V.shape[-2]
    if dq != dk:
        raise ValueError(f"Q and K must have the same width, got {dq} and {dk}")
    if nk != nv:
        raise ValueError(f"K and V must have the same length, got {nk} and {nv}")
    if block_q < 1:
        raise ValueError(f"block_q must be positive, got {block_q}")
    if block_k < 1:
        raise ValueError(f"block_k must be positive, got {block_k}")


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.dtype.kind != "f":
        Q, K, V = Q.astype(float), K.astype(float), V.astype(float)
    prepare(Q, K, V, block_q, block_k)
    lead = Q.shape[:-2]
    q3, k3, v3 = (x.reshape((-1,) + x.shape[-2:]) for x in (Q, K, V))
    outs = np.zeros((len(q3), Q.shape[-2], V.shape[-1]), Q.dtype)
    logs = np.zeros((len(q3), Q.shape[-2]), Q.dtype)
    root = np.sqrt(np.array(Q.shape[-1], Q.dtype))
    for b in range(len(q3)):
        start = 0
        while start < Q.shape[-2]:
            q = q3[b, start : start + block_q] / root
            m = np.repeat(np.array(-np.inf, Q.dtype), len(q))
            l = np.repeat(np.array(0, Q.dtype), len(q))
            acc = np.zeros((len(q), V.shape[-1]), Q.dtype)
            at = 0
            while at < K.shape[-2]:
                if is_causal and at >= start + len(q):
                    break
                s = q.dot(k3[b, at : at + block_k].T)
                if is_causal:
                    keep = np.greater_equal.outer(np.arange(start, start + len(q)), np.arange(at, at + s.shape[1]))
                    s = np.where(keep, s, np.array(-np.inf, Q.dtype))
                m, l, p, r = merge_softmax(m, l, s)
                acc *= r[:, None]
                acc += p.dot(v3[b, at : at + block_k])
                at += block_k
            outs[b, start : start + block_q] = acc / l[:, None]
            logs[b, start : start + block_q] = np.log(l) + m
            start += block_q
    return outs.reshape(lead + outs.shape[1:]), logs.reshape(lead + logs.shape[1:])


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    prepare(Q, K, V, block_q, block_k)
    q3, k3, v3, o3, g3 = (x.reshape((-1,) + x.shape[-2:]) for x in (Q, K, V, O, dO))
    logs = L.reshape(-1, L.shape[-1])
    dq, dk, dv = np.zeros_like(q3), np.zeros_like(k3), np.zeros_like(v3)
    root = np.sqrt(np.array(Q.shape[-1], Q.dtype))
    for b in range(len(q3)):
        for i in range(0, q3.shape[1], block_q):
            q, g = q3[b, i : i + block_q], g3[b, i : i + block_q]
            inner = (g * o3[b, i : i + block_q]).sum(1)
            for j in range(0, k3.shape[1], block_k):
                if is_causal and j >= i + len(q):
                    break
                k, v = k3[b, j : j + block_k], v3[b, j : j + block_k]
                s = q.dot(k.T) / root - logs[b, i : i + block_q, None]
                if is_causal:
                    keep = np.greater_equal.outer(np.arange(i, i + len(q)), np.arange(j, j + len(k)))
                    s = np.where(keep, s, np.array(-np.inf, Q.dtype))
                p = np.exp(s)
                ds = p * (g.dot(v.T) - inner[:, None]) / root
                dv[b, j : j + block_k] += p.T.dot(g)
                dq[b, i : i + block_q] += ds.dot(k)
                dk[b, j : j + block_k] += ds.T.dot(q)
    return dq.reshape(Q.shape), dk.reshape(K.shape), dv.reshape(V.shape)


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 4 * 8192 * 8192
REFLECT_CAUSAL_TILES_N1024_B128 = 36.0

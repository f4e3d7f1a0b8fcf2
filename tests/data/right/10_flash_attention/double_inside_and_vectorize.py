"""Everything in float64 and rounded at the end; np.vectorize for the leading axes."""


import numpy as np


def merge_softmax(m, l, scores):
    # put the old maximum in front as one more column, so one exp does everything
    both = np.concatenate([m[..., None], scores], axis=-1)
    m_new = both.max(axis=-1)
    ref = np.where(np.isfinite(m_new), m_new, np.zeros_like(m_new))
    e = np.exp(both - ref[..., None])
    rescale, weights = e[..., 0], e[..., 1:]
    return m_new, l * rescale + weights.sum(-1), weights, rescale


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


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    kind = np.asarray(Q).dtype if np.asarray(Q).dtype.kind == "f" else np.dtype(float)
    Q, K, V = (np.array(x, dtype=np.float64) for x in (Q, K, V))  # everything in double, rounded at the end
    check_sizes(Q, K, V, block_q, block_k)

    def single(q, k, v):
        out, log_sums = np.empty((len(q), v.shape[1])), np.empty(len(q))
        for i in range(0, len(q), block_q):
            rows = np.arange(i, min(i + block_q, len(q)))
            m, l, acc = np.full(len(rows), -np.inf), np.zeros(len(rows)), 0
            for j in range(0, len(k), block_k):
                cols = np.arange(j, min(j + block_k, len(k)))
                if is_causal and cols[0] > rows[-1]:
                    continue
                s = q[rows].dot(k[cols].T) / np.sqrt(q.shape[1])
                if is_causal:
                    s[rows[:, None] < cols[None, :]] = -np.inf
                m, l, p, r = merge_softmax(m, l, s)
                acc = acc * r[:, None] + p.dot(v[cols])
            out[rows] = acc / l[:, None]
            log_sums[rows] = m + np.log(l)
        return out, log_sums

    run = np.vectorize(single, signature="(n,d),(k,d),(k,v)->(n,v),(n)")
    O, L = run(Q, K, V)
    return O.astype(kind), L.astype(kind)


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    kind = Q.dtype
    Q, K, V, O, dO, L = (np.asarray(x, dtype=np.float64) for x in (Q, K, V, O, dO, L))

    def tiles(n, size):
        start = 0
        while start < n:
            yield start, min(start + size, n)
            start += size

    def single(q, k, v, o, do, log_sum):
        dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
        shared = np.sum(do * o, axis=-1, keepdims=True)
        for a, b in tiles(len(q), block_q):
            for c, d in tiles(len(k), block_k):
                if is_causal and c > b - 1:
                    break
                s = q[a:b] @ k[c:d].T / np.sqrt(q.shape[-1])
                if is_causal:
                    s = np.where(np.less_equal.outer(np.arange(c, d), np.arange(a, b)).T, s, -np.inf)
                p = np.exp(s - log_sum[a:b, None])
                ds = p * (do[a:b] @ v[c:d].T - shared[a:b]) / np.sqrt(q.shape[-1])
                dq[a:b] += ds @ k[c:d]
                dk[c:d] += np.transpose(ds) @ q[a:b]
                dv[c:d] += np.transpose(p) @ do[a:b]
        return dq, dk, dv

    run = np.vectorize(single, signature="(n,d),(k,d),(k,v),(n,v),(n,v),(n)->(n,d),(k,d),(k,v)")
    return tuple(x.astype(kind) for x in run(Q, K, V, O, dO, L))


# 2^13 tokens, squared is 2^26, 4 = 2^2 bytes
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 2 ** 28
REFLECT_CAUSAL_TILES_N1024_B128 = sum(i + 1 for i in range(1024 // 128))

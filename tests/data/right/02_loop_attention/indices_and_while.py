import numpy as np

def dot_product(a, b):
    n = a.shape[0]
    if n != b.shape[0]:
        raise ValueError("lengths %d and %d" % (n, b.shape[0]))
    total = a.dtype.type(0)
    i = 0
    while i < n:
        total += a[i] * b[i]
        i += 1
    return total

def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError("widths %d and %d" % (Q.shape[1], K.shape[1]))
    dtype = Q.dtype if Q.dtype in (np.float32, np.float64) else np.float64
    out = np.empty((Q.shape[0], K.shape[0]), dtype)
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            s = 0
            for d in range(Q.shape[1]):
                s += Q[i, d] * K[j, d]
            out[i, j] = s
    return out

def scale_factor(d_k, variance=1.0):
    return variance * d_k ** 0.5

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("widths %d and %d" % (Q.shape[-1], K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("lengths %d and %d" % (K.shape[-2], V.shape[-2]))
    flat = Q.ndim == 2
    if flat:
        Q, K, V = Q[None], K[None], V[None]
    B, n_q, d_k = Q.shape
    n_k, d_v = V.shape[1:]
    dtype = Q.dtype if Q.dtype in (np.float32, np.float64) else np.float64
    if mask is None:
        mask = np.ones((B, n_q, n_k))
    mask = np.broadcast_to(mask, (B, n_q, n_k))
    weights = np.zeros((B, n_q, n_k), dtype)
    output = np.zeros((B, n_q, d_v), dtype)
    for b in range(B):
        scores = attention_scores(Q[b], K[b])
        for i in range(n_q):
            m = None
            for j in range(n_k):
                scores[i, j] /= scale_factor(d_k)
                if mask[b, i, j] != 0 and (m is None or scores[i, j] > m):
                    m = scores[i, j]
            if m is None:
                continue
            z = 0
            for j in range(n_k):
                if mask[b, i, j] != 0:
                    weights[b, i, j] = np.exp(scores[i, j] - m)
                    z += weights[b, i, j]
            for j in range(n_k):
                weights[b, i, j] /= z
                for c in range(d_v):
                    output[b, i, c] += weights[b, i, j] * V[b, j, c]
    return (output[0], weights[0]) if flat else (output, weights)

REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

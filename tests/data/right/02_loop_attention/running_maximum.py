import numpy as np
from functools import reduce

def dot_product(a, b):
    if np.size(a) != np.size(b):
        raise ValueError("cannot multiply " + str(np.size(a)) + " by " + str(np.size(b)) + " entries")
    def products():
        for i in range(len(a)):
            yield float(a[i]) * float(b[i])
    return reduce(lambda x, y: x + y, products(), 0.0)

def rows(Q, K):
    for q in Q:
        yield tuple(dot_product(q, k) for k in K)

def attention_scores(Q, K):
    if np.shape(Q)[1] != np.shape(K)[1]:
        raise ValueError(f"d_k is {np.shape(Q)[1]} in Q and {np.shape(K)[1]} in K")
    dtype = np.result_type(Q.dtype, K.dtype)
    return np.array(list(rows(Q, K)), dtype=dtype if dtype.kind == "f" else "float64")

def scale_factor(d_k, variance=1.0):
    return np.float64(variance) * np.sqrt(d_k)

def attend(q, K, V, allowed, scale):
    # one pass with a running maximum: what was added so far is scaled down when a larger score comes
    m, z, acc, logits = -np.inf, 0.0, [0.0] * V.shape[1], []
    for k, v, ok in zip(K, V, allowed):
        logits.append(dot_product(q, k) / scale if ok else None)
        if not ok:
            continue
        s = logits[-1]
        new = max(m, s)
        shrink, e = np.exp(m - new), np.exp(s - new)
        z = z * shrink + e
        acc = [x * shrink + e * float(y) for x, y in zip(acc, v)]
        m = new
    if z == 0:
        return [0.0] * V.shape[1], [0.0] * len(K)
    return [x / z for x in acc], [0.0 if s is None else np.exp(s - m) / z for s in logits]

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k is {Q.shape[-1]} in Q and {K.shape[-1]} in K")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} and V has {V.shape[-2]} tokens")
    lead = Q.shape[:-2]
    n_q, n_k = Q.shape[-2], K.shape[-2]
    allowed = np.full(lead + (n_q, n_k), True) if mask is None else np.broadcast_to(mask, lead + (n_q, n_k)) != 0
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    output = np.empty(lead + (n_q, V.shape[-1]), dtype)
    weights = np.empty(lead + (n_q, n_k), dtype)
    for where in np.ndindex(lead + (n_q,)):
        b = where[:-1]
        output[where], weights[where] = attend(Q[where], K[b], V[b], allowed[where], scale_factor(Q.shape[-1]))
    return output, weights

REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

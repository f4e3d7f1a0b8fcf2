import numpy as np

def dot_product(a, b):
    if (n := len(a)) != (m := len(b)):
        raise ValueError(f"{n=} {m=}")
    return a[0] * b[0] if n == 1 else dot_product(a[: n // 2], b[: n // 2]) + dot_product(a[n // 2 :], b[n // 2 :])

def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"expected width {Q.shape[1]}, got {K.shape[1]}")
    table = {(i, j): dot_product(q, k) for i, q in enumerate(Q) for j, k in enumerate(K)}
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    return np.fromiter(table.values(), dtype, len(table)).reshape(len(Q), len(K))

def scale_factor(d_k, variance=1.0):
    return float(np.hypot.reduce(np.full(d_k, variance)))

def scaled_dot_product_attention(Q, K, V, mask=None):
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"expected width {Q.shape[-1]}, got {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"expected length {K.shape[-2]}, got {V.shape[-2]}")
    allow = np.ones(Q.shape[:-1] + K.shape[-2:-1]) * (1 if mask is None else mask)
    if Q.ndim > 2:
        both = list(map(scaled_dot_product_attention, Q, K, V, allow))
        return np.concatenate([o[None] for o, _ in both]), np.concatenate([w[None] for _, w in both])
    Q = (Q / scale_factor(Q.shape[1])).astype(dtype)
    scores = attention_scores(Q, K)
    scores[allow == 0] = -np.inf
    top = scores.max(axis=1, keepdims=True)
    exps = np.exp(scores - np.where(np.isinf(top), 0, top))
    sums = exps.sum(axis=1, keepdims=True)
    weights = np.divide(exps, sums, out=np.zeros_like(exps), where=sums > 0)
    output = np.zeros((len(Q), V.shape[1]), dtype)
    for i, j in np.ndindex(*weights.shape):
        for c, value in enumerate(V[j]):
            output[i, c] += weights[i, j] * value
    return output, weights

REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

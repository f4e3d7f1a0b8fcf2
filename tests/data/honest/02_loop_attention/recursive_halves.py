import numpy as np


def _dot(a, b, start, stop):
    """Divide and conquer: adding two halves rounds less than adding from left to right."""
    if stop - start == 0:
        return 0.0
    if stop - start == 1:
        return a[start] * b[start]
    middle = (start + stop) // 2
    return _dot(a, b, start, middle) + _dot(a, b, middle, stop)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"cannot compare a vector of {len(a)} with one of {len(b)} entries")
    return _dot(a, b, 0, len(a))


def attention_scores(Q, K):
    n_q, d_q = Q.shape
    n_k, d_k = K.shape
    if d_q != d_k:
        raise ValueError(f"cannot compare queries of width {d_q} with keys of width {d_k}")
    scores = np.empty((n_q, n_k), dtype=np.promote_types(Q.dtype, K.dtype))
    if scores.dtype.kind != "f":
        scores = scores.astype(float)
    for i in range(n_q):
        for j in range(n_k):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


def scale_factor(d_k, variance=1.0):
    return variance * float(d_k) ** 0.5


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"cannot compare queries of width {Q.shape[-1]} with keys of width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys and {V.shape[-2]} values")

    dtype = np.result_type(Q, K, V)
    if dtype.kind != "f":
        dtype = np.dtype(np.float64)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype)
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]), dtype)
    allowed = np.full(weights.shape, True)
    if mask is not None:
        allowed = np.broadcast_to(np.asarray(mask).astype(bool), weights.shape)

    # the batch is recursive, too: go down until two dimensions are left
    if Q.ndim > 2:
        for b in range(len(Q)):
            output[b], weights[b] = scaled_dot_product_attention(Q[b], K[b], V[b], allowed[b])
        return output, weights

    scale = scale_factor(Q.shape[-1])
    for i, scores in enumerate(attention_scores(Q, K)):
        keys = [j for j in range(len(K)) if allowed[i, j]]
        if not keys:
            continue
        largest = max(scores[j] for j in keys)
        for j in keys:
            weights[i, j] = np.exp((scores[j] - largest) / scale)
        total = sum(weights[i, j] for j in keys)
        for j in keys:
            weights[i, j] /= total
        for c in range(V.shape[-1]):
            output[i, c] = dot_product(weights[i], V[:, c])
    return output, weights


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4.0

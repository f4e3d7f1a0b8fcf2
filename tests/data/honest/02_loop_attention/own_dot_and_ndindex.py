import numpy as np


def dot(a, b):
    """The dot product, by hand."""
    result = 0
    for i in np.ndindex(a.shape):
        result = result + a[i] * b[i]
    return result


def dot_product(a, b):
    if a.shape != b.shape:
        raise ValueError(f"a has {a.shape[0]} entries and b has {b.shape[0]}")
    return dot(a, b)


def matmul_by_hand(A, B_transposed, out):
    for index in np.ndindex(*out.shape):
        i, j = index
        out[index] = dot(A[i], B_transposed[j])
    return out


def output_type(*arrays):
    return np.result_type(*(a.dtype if a.dtype.kind == "f" else np.float64 for a in arrays))


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has width {Q.shape[-1]} and K has width {K.shape[-1]}")
    return matmul_by_hand(Q, K, np.zeros((Q.shape[0], K.shape[0]), output_type(Q, K)))


def scale_factor(d_k, variance=1.0):
    return np.sqrt(d_k * variance**2).item()


def softmax_row(row, allowed):
    kept = row[allowed]
    result = np.zeros_like(row)
    if kept.size:
        e = np.exp(kept - kept.max())
        result[allowed] = e / e.sum()
    return result


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has width {Q.shape[-1]} and K has width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has length {K.shape[-2]} and V has length {V.shape[-2]}")
    dtype = output_type(Q, K, V)
    weights = np.zeros(Q.shape[:-1] + (K.shape[-2],), dtype)
    output = np.zeros(Q.shape[:-1] + (V.shape[-1],), dtype)
    mask = np.ones(weights.shape, bool) if mask is None else np.broadcast_to(mask, weights.shape).astype(bool)
    scale = scale_factor(Q.shape[-1])
    for b in np.ndindex(Q.shape[:-2]):  # one empty index if there is no batch
        scores = attention_scores(Q[b], K[b]).astype(dtype) / scale
        for i in range(scores.shape[0]):
            weights[b][i] = softmax_row(scores[i], mask[b][i])
        matmul_by_hand(weights[b], V[b].T, output[b])
    return output, weights


REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

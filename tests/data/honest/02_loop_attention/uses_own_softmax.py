import numpy as np

from mylab.softmax import softmax


def dot_product(a, b):
    assert a.ndim == b.ndim == 1
    if a.size != b.size:
        raise ValueError(f"sizes {a.size} and {b.size}")
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"sizes {Q.shape[1]} and {K.shape[1]}")
    S = np.empty((Q.shape[0], K.shape[0]), dtype=np.result_type(Q, K, np.float32))
    for i in range(S.shape[0]):
        for j in range(S.shape[1]):
            S[i, j] = dot_product(Q[i], K[j])
    return S


def scale_factor(d_k, variance=1.0):
    return float(np.sqrt(d_k) * variance)


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        B, n_q, n_k = Q.shape[0], Q.shape[1], K.shape[1]
        full = None if mask is None else np.broadcast_to(mask, (B, n_q, n_k))
        results = [
            scaled_dot_product_attention(Q[b], K[b], V[b], None if full is None else full[b]) for b in range(B)
        ]
        return tuple(np.stack(list(part)) for part in zip(*results))

    if K.shape[0] != V.shape[0]:
        raise ValueError(f"sizes {K.shape[0]} and {V.shape[0]}")
    scores = attention_scores(Q, K)
    n_q, n_k = scores.shape
    d_v = V.shape[1]
    dtype = np.result_type(scores, V)
    scale = scale_factor(Q.shape[1])
    weights = np.zeros((n_q, n_k), dtype=dtype)
    output = np.zeros((n_q, d_v), dtype=dtype)
    for i in range(n_q):
        row = scores[i] / scale
        if mask is None:
            weights[i] = softmax(row)
        else:
            see = np.broadcast_to(mask, (n_q, n_k))[i] != 0
            if see.any():
                weights[i, see] = softmax(row[see])
        for c in range(d_v):
            output[i, c] = dot_product(weights[i], V[:, c])
    return output, weights


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

import numpy as np


def dot_product(a, b):
    if a.size != b.size:
        raise ValueError(f"a: {a.size}, b: {b.size}")
    total = 0.0
    for (i,), x in np.ndenumerate(a):
        total += x * b.item(i)
    return total


def _like(shape, *arrays):
    kind = np.result_type(*arrays)
    return np.zeros(shape, dtype=kind if kind.kind == "f" else float)


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    scores = _like((len(Q), len(K)), Q, K)
    for n in range(scores.size):
        i, j = divmod(n, len(K))
        scores.flat[n] = dot_product(Q[i], K[j])
    return scores


def scale_factor(d_k, variance=1.0):
    return variance * pow(d_k, 0.5)


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K: {K.shape[-2]}, V: {V.shape[-2]}")
    squeeze = Q.ndim == 2
    if squeeze:  # a batch of one
        Q, K, V = Q[np.newaxis], K[np.newaxis], V[np.newaxis]
    batch, n_q, d_k = Q.shape
    n_k, d_v = V.shape[1:]
    weights = _like((batch, n_q, n_k), Q, K, V)
    output = _like((batch, n_q, d_v), Q, K, V)
    allowed = np.full(weights.shape, True) if mask is None else np.broadcast_to(mask, weights.shape) != 0
    scale = scale_factor(d_k)
    for b in range(batch):
        scores = attention_scores(Q[b], K[b])
        for i in range(n_q):
            (keys,) = np.nonzero(allowed[b, i])
            if keys.size == 0:
                continue
            some = np.take(scores[i], keys) / scale
            e = np.exp(some - np.max(some))
            np.put(weights[b, i], keys, e / np.sum(e))
            for c in range(d_v):
                output[b, i, c] = dot_product(weights[b, i], V[b, :, c])
    return (output[0], weights[0]) if squeeze else (output, weights)


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

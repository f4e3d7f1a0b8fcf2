import numpy as np


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths {len(a)} and {len(b)} do not agree")
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


# np.vectorize is only a loop: it calls dot_product once for each pair of vectors
all_pairs = np.vectorize(dot_product, signature="(d),(d)->()", otypes=[float])


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"widths {Q.shape[-1]} and {K.shape[-1]} do not agree")
    scores = all_pairs(Q[:, None, :], K[None, :, :])
    return scores.astype(np.float32) if Q.dtype == K.dtype == np.float32 else scores


def scale_factor(d_k, variance=1.0):
    return variance * np.sqrt(float(d_k))


def softmax_of_allowed(row, allowed):
    weights = np.zeros(len(row))
    if allowed.any():
        weights[allowed] = np.exp(row[allowed] - row[allowed].max())
        weights /= weights.sum()
    return weights


softmax_rows = np.vectorize(softmax_of_allowed, signature="(n),(n)->(n)", otypes=[float])


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"widths {Q.shape[-1]} and {K.shape[-1]} do not agree")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"lengths {K.shape[-2]} and {V.shape[-2]} do not agree")
    kind = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask, bool), Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        results = [scaled_dot_product_attention(q, k, v, m) for q, k, v, m in zip(Q, K, V, allowed)]
        return np.stack([r[0] for r in results]), np.stack([r[1] for r in results])
    weights = softmax_rows(attention_scores(Q, K) / scale_factor(Q.shape[-1]), allowed)
    output = all_pairs(weights[:, None, :], V.T[None, :, :])
    return output.astype(kind), weights.astype(kind)


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

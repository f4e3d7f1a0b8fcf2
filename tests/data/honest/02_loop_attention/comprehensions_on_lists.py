from math import exp, sqrt

import numpy as np


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"vectors of lengths {len(a)} and {len(b)}")
    return sum(x * y for x, y in zip(a, b))


def _dtype(*arrays):
    kind = np.result_type(*arrays)
    return kind if kind.kind == "f" else np.dtype(float)


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"queries are {Q.shape[1]} wide, keys {K.shape[1]}")
    qs, ks = Q.tolist(), K.tolist()
    return np.array([[dot_product(q, k) for k in ks] for q in qs], dtype=_dtype(Q, K))


def scale_factor(d_k, variance=1.0):
    return variance * sqrt(d_k)


def _row(scores, allowed):
    top = max((s for s, ok in zip(scores, allowed) if ok), default=0.0)
    exps = [exp(s - top) if ok else 0.0 for s, ok in zip(scores, allowed)]
    total = sum(exps) or 1.0
    return [e / total for e in exps]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries are {Q.shape[-1]} wide, keys {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys but {V.shape[-2]} values")
    shape = (*Q.shape[:-1], K.shape[-2])
    mask = np.broadcast_to(True if mask is None else np.asarray(mask) != 0, shape)
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(*one) for one in zip(Q, K, V, mask)]
        outputs, weights = zip(*pairs)
        return np.array(outputs), np.array(weights)
    scale = scale_factor(Q.shape[1])
    scores = [[s / scale for s in row] for row in attention_scores(Q, K).tolist()]
    weights = [_row(s, m) for s, m in zip(scores, mask.tolist())]
    columns = list(zip(*V.tolist()))
    output = [[dot_product(w, column) for column in columns] for w in weights]
    dtype = _dtype(Q, K, V)
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


REFLECT_MULTIPLY_ADDS_N512_D64 = 33_554_432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

import math
from collections import deque
from itertools import accumulate, chain, islice, zip_longest

import numpy as np

MISSING = object()


def dot_product(a, b):
    products = []
    for x, y in zip_longest(a, b, fillvalue=MISSING):
        if x is MISSING or y is MISSING:
            raise ValueError(f"lengths {len(a)} and {len(b)}")
        products.append(x * y)
    (total,) = deque(accumulate(products, initial=0.0), maxlen=1)
    return total


def _type(*arrays):
    return np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    flat = chain.from_iterable((dot_product(q, k) for k in K.tolist()) for q in Q.tolist())
    rows = [list(islice(flat, len(K))) for _ in range(len(Q))]
    return np.asarray(rows, dtype=_type(Q, K))


def scale_factor(d_k, variance=1.0):
    return variance * math.sqrt(d_k)


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"widths {Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"lengths {K.shape[-2]} and {V.shape[-2]}")
    mask = np.broadcast_to(np.ones(()) if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        results = deque(scaled_dot_product_attention(*part) for part in zip(Q, K, V, mask))
        return np.stack([o for o, _ in results]), np.stack([w for _, w in results])

    scale = scale_factor(Q.shape[-1])
    weights, output = [], []
    columns = V.T.tolist()
    for scores, seen in zip(attention_scores(Q, K).tolist(), mask.tolist()):
        row = [score / scale if ok else -math.inf for score, ok in zip(scores, seen)]
        *_, top = accumulate(row, max)
        if top == -math.inf:
            row = [0.0] * len(row)
        else:
            row = [math.exp(score - top) for score in row]
            total = math.fsum(row)
            row = [e / total for e in row]
        weights.append(row)
        output.append([dot_product(row, column) for column in columns])
    return np.array(output, dtype=_type(Q, K, V)), np.array(weights, dtype=_type(Q, K, V))


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

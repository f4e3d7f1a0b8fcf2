from collections import defaultdict
from itertools import count, repeat
import math

import numpy as np


def products(a, b):
    """Yield a[0]*b[0], a[1]*b[1], ..."""
    ia, ib = iter(a), iter(b)
    for _ in count():
        try:
            x = next(ia)
        except StopIteration:
            return
        y = next(ib)
        yield x * y


def dot_product(a, b):
    if (n := len(a)) != (m := len(b)):
        raise ValueError(f"{n} != {m}")
    total = 0.0
    for product in products(a, b):
        total += product
    return total


def score_table(Q, K):
    """Return a dict (query, key) -> score."""
    table = defaultdict(float)
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            table[i, j] = dot_product(q, k)
    return table


def from_table(table, shape, dtype):
    array = np.zeros(shape, dtype=dtype)
    for place, number in table.items():
        array[place] = number
    return array


def pick_type(*arrays):
    for array in arrays:
        if array.dtype != np.float32:
            return np.float64
    else:
        return np.float32


def attention_scores(Q, K):
    if (a := Q.shape[-1]) != (b := K.shape[-1]):
        raise ValueError(f"Q is {a} wide, K is {b} wide")
    return from_table(score_table(Q, K), (len(Q), len(K)), pick_type(Q, K))


def scale_factor(d_k, variance=1.0):
    return math.sqrt(d_k) * variance


def scaled_dot_product_attention(Q, K, V, mask=None):
    if (a := Q.shape[-1]) != (b := K.shape[-1]):
        raise ValueError(f"Q is {a} wide, K is {b} wide")
    if (a := K.shape[-2]) != (b := V.shape[-2]):
        raise ValueError(f"K is {a} long, V is {b} long")
    if Q.ndim == 3:
        if mask is None:
            masks = repeat(None)
        else:
            masks = np.broadcast_to(mask, (len(Q), Q.shape[1], K.shape[1]))
        outputs, weights = [], []
        for q, k, v, m in zip(Q, K, V, masks):
            o, w = scaled_dot_product_attention(q, k, v, m)
            outputs.append(o)
            weights.append(w)
        return np.array(outputs), np.array(weights)

    n_q, n_k, d_v = len(Q), len(K), V.shape[1]
    seen = None if mask is None else np.broadcast_to(mask, (n_q, n_k))
    scores = score_table(Q, K)
    if seen is not None:
        for i in range(n_q):
            for j in range(n_k):
                if not seen[i, j]:
                    del scores[i, j]
    scale = scale_factor(Q.shape[-1])
    largest = {}
    for (i, _), score in scores.items():
        largest[i] = max(score, largest.get(i, -math.inf))
    weights = {(i, j): math.exp((score - largest[i]) / scale) for (i, j), score in scores.items()}
    sums = defaultdict(float)
    for (i, _), weight in weights.items():
        sums[i] += weight
    weights = {(i, j): weight / sums[i] for (i, j), weight in weights.items()}
    output = defaultdict(float)
    for (i, j), weight in weights.items():
        for c in range(d_v):
            output[i, c] += weight * V[j, c]
    dtype = pick_type(Q, K, V)
    return from_table(output, (n_q, d_v), dtype), from_table(weights, (n_q, n_k), dtype)


REFLECT_MULTIPLY_ADDS_N512_D64 = 1 << 25
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 1 << 2

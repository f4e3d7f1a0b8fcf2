# Module 02. I turn every row into a plain Python list and use math.exp: for single numbers that is faster than NumPy.
# Everything that runs through the tokens is a generator.

import math
from collections.abc import Iterable, Iterator

import numpy as np


def dot_product(a, b):
    n, m = len(a), len(b)
    if n != m:
        raise ValueError(f"vectors of different lengths: {n} != {m}")
    return float(sum(x * y for x, y in zip(a, b)))


def _float_dtype(*arrays):
    for array in arrays:
        if array.dtype != np.float32:
            return np.float64
    return np.float32


def _score_rows(queries: list[list[float]], keys: list[list[float]]) -> Iterator[list[float]]:
    """Yield one row of raw scores after the other."""
    for query in queries:
        yield [dot_product(query, key) for key in keys]


def attention_scores(Q, K):
    Q = np.asarray(Q)
    K = np.asarray(K)
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has rows of {Q.shape[1]} entries, K has rows of {K.shape[1]}")
    scores = np.empty((Q.shape[0], K.shape[0]), _float_dtype(Q, K))
    for i, row in enumerate(_score_rows(Q.tolist(), K.tolist())):
        scores[i] = row
    return scores


def scale_factor(d_k, variance=1.0):
    # Var(q.k) = d_k * v * v, and the scale is the root of it
    return math.sqrt(d_k) * variance


def _visible(row: Iterable[float], flags: Iterable) -> Iterator[tuple[int, float]]:
    """Yield (key, score) for each key that the query may look at."""
    for j, (score, flag) in enumerate(zip(row, flags)):
        if flag:
            yield j, score


def _softmax(visible: list[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """Yield (key, weight). If nothing is visible there is nothing to yield."""
    if not visible:
        return
    highest = max(score for _, score in visible)
    exps = [(j, math.exp(score - highest)) for j, score in visible]
    total = math.fsum(e for _, e in exps)
    for j, e in exps:
        yield j, e / total


def _attend_one_sentence(Q, K, V, mask, dtype):
    n_q, n_k, d_v = len(Q), len(K), V.shape[1]
    scale = scale_factor(Q.shape[1])
    weights = np.zeros((n_q, n_k), dtype)
    output = np.zeros((n_q, d_v), dtype)
    values = V.tolist()

    for i, (raw, flags) in enumerate(zip(_score_rows(Q.tolist(), K.tolist()), mask.tolist())):
        scaled = [s / scale for s in raw]
        mixed = [0.0 for _ in range(d_v)]
        for j, w in _softmax(list(_visible(scaled, flags))):
            weights[i, j] = w
            for c, value in enumerate(values[j]):
                mixed[c] += w * value
        output[i] = mixed
    return output, weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has rows of {Q.shape[-1]} entries, K has rows of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]} rows")

    dtype = _float_dtype(Q, K, V)
    shape = Q.shape[:-1] + (K.shape[-2],)
    full_mask = np.broadcast_to(np.array(True) if mask is None else np.asarray(mask), shape)

    if Q.ndim == 2:
        return _attend_one_sentence(Q, K, V, full_mask, dtype)

    output = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype)
    weights = np.zeros(shape, dtype)
    for b in range(len(Q)):
        output[b], weights[b] = _attend_one_sentence(Q[b], K[b], V[b], full_mask[b], dtype)
    return output, weights


REFLECT_MULTIPLY_ADDS_N512_D64 = 33_554_432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4.0

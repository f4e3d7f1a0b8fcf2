"""02 loop attention - functional version.

I come from Haskell, so: small functions, no variable that changes if I can help it. The loops are folds
(functools.reduce) and generator expressions. Every multiplication is between two single numbers.
"""

from functools import partial, reduce
from itertools import compress, product
from math import sqrt
from operator import itemgetter, truediv
from typing import NamedTuple

import numpy as np


class Sizes(NamedTuple):
    n_q: int
    n_k: int
    d_k: int
    d_v: int


def multiply_add(total, pair):
    return total + pair[0] * pair[1]


def dot_product(a, b):
    """fold (+) 0 (zipWith (*) a b), and zip would stop early, so look at the lengths first"""
    if len(a) != len(b):
        raise ValueError(f"dot_product of {len(a)} and {len(b)} entries")
    return reduce(multiply_add, zip(a, b), 0.0)


def result_type(*arrays):
    return np.float32 if all(map(lambda x: x.dtype == np.float32, arrays)) else np.float64


def attention_scores(Q, K):
    Q, K = map(np.asarray, (Q, K))
    (n_q, width_q), (n_k, width_k) = Q.shape, K.shape
    if width_q != width_k:
        raise ValueError(f"width of queries: {width_q}, width of keys: {width_k}")
    numbers = (dot_product(Q[i], K[j]) for i, j in product(range(n_q), range(n_k)))
    return np.fromiter(numbers, dtype=result_type(Q, K), count=n_q * n_k).reshape(n_q, n_k)


def scale_factor(d_k, variance=1.0):
    return variance * sqrt(d_k)


def softmax_of_allowed(scores, allowed):
    """The softmax of one row, as a list. Blocked entries are 0."""
    kept = list(compress(scores, allowed))
    if not kept:
        return [0.0 for _ in scores]
    largest = max(kept)
    exps = [np.exp(s - largest) if ok else 0.0 for s, ok in zip(scores, allowed)]
    divided_by_total = partial(lambda total, e: truediv(e, total), sum(exps))
    return list(map(divided_by_total, exps))


def mix(weights, allowed, V):
    """One row of the output: for each column, the weights times the values of the allowed keys."""
    seen = list(compress(range(len(weights)), allowed))
    column = lambda c: reduce(multiply_add, ((weights[j], V[j, c]) for j in seen), 0.0)
    return [column(c) for c in range(V.shape[1])]


def measured(Q, K, V):
    sizes = Sizes(Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1])
    if sizes.d_k != K.shape[-1]:
        raise ValueError(f"width of queries: {sizes.d_k}, width of keys: {K.shape[-1]}")
    if sizes.n_k != V.shape[-2]:
        raise ValueError(f"number of keys: {sizes.n_k}, number of values: {V.shape[-2]}")
    return sizes


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = map(np.asarray, (Q, K, V))
    sizes = measured(Q, K, V)
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], sizes.n_k))

    if Q.ndim > 2:
        pairs = [scaled_dot_product_attention(*element) for element in zip(Q, K, V, mask)]
        return tuple(np.stack(list(map(itemgetter(part), pairs))) for part in (0, 1))

    dtype = result_type(Q, K, V)
    scores = attention_scores(Q, K) / scale_factor(sizes.d_k)
    weights = [softmax_of_allowed(row, allowed) for row, allowed in zip(scores, mask)]
    output = [mix(row, allowed, V) for row, allowed in zip(weights, mask)]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


REFLECT_MULTIPLY_ADDS_N512_D64 = reduce(lambda x, y: x * y, (512, 512, 64 + 64))  # 33 554 432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 2 * 2


if __name__ == "__main__":
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    output, weights = scaled_dot_product_attention(Q, K, V)
    print(output.round(4))
    print(weights.round(4))
    print(scaled_dot_product_attention(Q, K, V, np.tri(5))[1].round(4))

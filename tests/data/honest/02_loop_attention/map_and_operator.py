import itertools
import math
import operator
from functools import partial, reduce

import numpy as np


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} entries against {len(b)}")
    return sum(map(operator.mul, a, b))


def _float_type(*arrays):
    return np.float32 if all(map(lambda x: x.dtype == np.float32, arrays)) else np.float64


def attention_scores(Q, K):
    (n_q, d_q), (n_k, d_k) = Q.shape, K.shape
    if operator.ne(d_q, d_k):
        raise ValueError(f"the widths {d_q} and {d_k} differ")
    products = itertools.starmap(dot_product, itertools.product(Q.tolist(), K.tolist()))
    return np.fromiter(products, dtype=_float_type(Q, K), count=n_q * n_k).reshape(n_q, n_k)


def scale_factor(d_k, variance=1.0):
    return operator.mul(variance, math.sqrt(d_k))


def _weights(row, allowed):
    kept = list(itertools.compress(row, allowed))
    if not kept:
        return [0.0 for _ in row]
    top = reduce(max, kept)
    exps = list(map(lambda s, ok: math.exp(s - top) if ok else 0.0, row, allowed))
    total = reduce(operator.add, exps)
    return list(map(partial(operator.mul, 1.0) if total == 1.0 else lambda e: e / total, exps))


def _one(Q, K, V, mask):
    scale = scale_factor(Q.shape[-1])
    rows = map(lambda row: [s / scale for s in row], attention_scores(Q, K).tolist())
    weights = list(map(_weights, rows, mask.tolist()))
    columns = [*zip(*V.tolist())]
    output = [list(map(partial(dot_product, w), columns)) for w in weights]
    kind = _float_type(Q, K, V)
    return np.array(output, kind), np.array(weights, kind)


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"the widths {Q.shape[-1]} and {K.shape[-1]} differ")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"the lengths {K.shape[-2]} and {V.shape[-2]} differ")
    allowed = np.ones((1, 1)) if mask is None else mask
    allowed = np.broadcast_to(allowed, Q.shape[:-1] + K.shape[-2:-1])
    if Q.ndim == 2:
        return _one(Q, K, V, allowed)
    outputs, weights = zip(*map(_one, Q, K, V, allowed))
    return np.stack(outputs), np.stack(weights)


REFLECT_MULTIPLY_ADDS_N512_D64 = reduce(operator.mul, [2, 512, 512, 64])
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 2 ** 2

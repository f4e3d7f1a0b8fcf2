"""Counts its own multiplications, to check the answer under Reflect."""

import math
from collections import Counter
from contextlib import contextmanager
from functools import wraps

import numpy as np

counted = Counter()
_counting = False


@contextmanager
def counting():
    global _counting
    before, _counting = _counting, True
    counted.clear()
    try:
        yield counted
    finally:
        _counting = before


def multiply(x, y):
    if _counting:
        counted["multiplications"] += 1
    return x * y


def checked(**axes):
    """Decorator: the arrays named must agree along an axis, such as checked(QK=-1)."""

    def decorate(f):
        names = f.__code__.co_varnames[: f.__code__.co_argcount]

        @wraps(f)
        def wrapper(*args, **kwargs):
            given = dict(zip(names, args)) | kwargs
            for (first, second), axis in axes.items():
                n, m = given[first].shape[axis], given[second].shape[axis]
                if n != m:
                    raise ValueError(f"{first} has {n} and {second} has {m} along axis {axis}")
            return f(*args, **kwargs)

        return wrapper

    return decorate


@checked(ab=0)
def dot_product(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += multiply(x, y)
    return total


@checked(QK=-1)
def attention_scores(Q, K):
    kind = np.float32 if Q.dtype == K.dtype == np.float32 else np.float64
    return np.array([[dot_product(q, k) for k in K] for q in Q], dtype=kind)


def scale_factor(d_k, variance=1.0):
    return variance * math.sqrt(d_k)


@checked(QK=-1, KV=-2)
def scaled_dot_product_attention(Q, K, V, mask=None):
    kind = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    shape = (*Q.shape[:-1], K.shape[-2])
    may_look = (lambda *at: True) if mask is None else (lambda *at, m=np.broadcast_to(mask, shape): m[at] != 0)
    weights = np.zeros(shape, kind)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), kind)
    scale = scale_factor(Q.shape[-1])

    def attend(b):
        for i, scores in enumerate(attention_scores(Q[b], K[b])):
            seen = {j: float(score) / scale for j, score in enumerate(scores) if may_look(*b, i, j)}
            if not seen:
                continue
            top = max(seen.values())
            exps = {j: math.exp(score - top) for j, score in seen.items()}
            total = sum(exps.values())
            for j, e in exps.items():
                weights[(*b, i, j)] = e / total
            for c in range(V.shape[-1]):
                output[(*b, i, c)] = sum(multiply(weights[(*b, i, j)], V[(*b, j, c)]) for j in exps)

    for b in [()] if Q.ndim == 2 else [(n,) for n in range(len(Q))]:
        attend(b)
    return output, weights


with counting() as made:
    scaled_dot_product_attention(np.ones((2, 4)), np.ones((3, 4)), np.ones((3, 5)))
assert made["multiplications"] == 2 * 3 * (4 + 5)

REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

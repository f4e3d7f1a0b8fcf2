import heapq
import math
import statistics
from array import array
from itertools import filterfalse, groupby, tee
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np


class Entry(NamedTuple):
    query: int
    key: int
    score: float


def dot_product(a, b):
    xs, ys = array("d", a.tolist()), array("d", b.tolist())
    if len(xs) != len(ys):
        raise ValueError("%d and %d" % (len(xs), len(ys)))
    s = 0.0
    for i in range(len(xs)):
        s += xs[i] * ys[i]
    return s


def float_kind(*arrays):
    return "f" if not list(filterfalse(lambda a: a.dtype == "float32", arrays)) else "d"


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError("%d and %d" % (Q.shape[1], K.shape[1]))
    out = np.zeros((len(Q), len(K)), float_kind(Q, K))
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            out[i, j] = dot_product(q, k)
    return out


def scale_factor(d_k, variance=1.0):
    return math.prod((variance, math.sqrt(d_k)))


def softmax(entries):
    entries = list(entries)
    (best,) = heapq.nlargest(1, entries, key=itemgetter(2))
    exps = [math.exp(entry.score - best.score) for entry in entries]
    mean = statistics.fmean(exps)
    for entry, e in zip(entries, exps):
        yield entry._replace(score=e / mean / len(exps))


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("%d and %d" % (Q.shape[-1], K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("%d and %d" % (K.shape[-2], V.shape[-2]))
    allowed = None if mask is None else np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
    if Q.ndim == 3:
        pairs = (scaled_dot_product_attention(Q[b], K[b], V[b], allowed if allowed is None else allowed[b]) for b in range(len(Q)))
        outputs, weights = tee(pairs)
        return np.stack([o for o, _ in outputs]), np.stack([w for _, w in weights])
    scale = scale_factor(Q.shape[-1])
    scores = attention_scores(Q, K)
    entries = (
        Entry(i, j, scores[i, j].item() / scale)
        for i in range(len(Q))
        for j in range(len(K))
        if allowed is None or allowed[i, j]
    )
    kind = float_kind(Q, K, V)
    output, weights = np.zeros((len(Q), V.shape[1]), kind), np.zeros((len(Q), len(K)), kind)
    for i, row in groupby(entries, key=attrgetter("query")):
        for _, j, weight in softmax(row):
            weights[i, j] = weight
            for c in range(V.shape[1]):
                output[i, c] += weight * V[j, c]
    return output, weights


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

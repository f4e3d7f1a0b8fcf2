"""What most cheats of 02_loop_attention keep of a right submission."""

import math
import numpy as np


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    return np.array([[dot_product(q, k) for k in K] for q in Q], dtype=kind(Q))


def scale_factor(d_k, variance=1.0):
    return math.sqrt(d_k) * variance


def kind(x):
    return x.dtype if x.dtype.kind == "f" else np.float64


def shares(scores, allowed):
    if not any(allowed):
        return [0.0 for _ in scores]
    top = max(s for s, ok in zip(scores, allowed) if ok)
    exps = [math.exp(s - top) if ok else 0.0 for s, ok in zip(scores, allowed)]
    total = sum(exps)
    return [e / total for e in exps]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        full = [None] * len(Q) if mask is None else np.broadcast_to(mask, Q.shape[:2] + (K.shape[1],))
        outputs, weights = zip(*[scaled_dot_product_attention(*each) for each in zip(Q, K, V, full)])
        return np.array(outputs), np.array(weights)
    if len(K) != len(V):
        raise ValueError(f"{len(K)} keys, {len(V)} values")
    scale = scale_factor(Q.shape[1])
    scores = [[x / scale for x in row] for row in attention_scores(Q, K).tolist()]
    allowed = np.ones((len(Q), len(K)), bool) if mask is None else np.broadcast_to(mask, (len(Q), len(K))).astype(bool)
    weights = [np.array(shares(row, ok)) for row, ok in zip(scores, allowed.tolist())]
    output = [[dot_product(w, column) for column in V.T] for w in weights]
    return np.array(output, dtype=kind(Q)), np.array(weights, dtype=kind(Q))


REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

import math

import numpy as np


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"len(a)={len(a)} len(b)={len(b)}")
    result = 0.0
    for i, x in enumerate(a):
        result += x * b[i]
    return result


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q.shape[1]={Q.shape[1]} K.shape[1]={K.shape[1]}")
    out = np.empty((Q.shape[0], K.shape[0]), np.result_type(Q.dtype, K.dtype, "f4"))
    for i in reversed(range(Q.shape[0])):
        for j in reversed(range(K.shape[0])):
            out[i, j] = dot_product(Q[i], K[j])
    return out


def scale_factor(d_k, variance=1.0):
    return math.sqrt(d_k * variance * variance)


class OnlineSoftmax:
    """Largest score and sum of exponentials in one pass: when a larger score arrives, the old sum is scaled down."""

    def __init__(self):
        self.top = -math.inf
        self.total = 0.0

    def add(self, score):
        if score > self.top:
            self.total = self.total * math.exp(self.top - score) + 1.0
            self.top = score
        else:
            self.total += math.exp(score - self.top)

    def weight(self, score):
        return math.exp(score - self.top) / self.total


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q.shape[-1]={Q.shape[-1]} K.shape[-1]={K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K.shape[-2]={K.shape[-2]} V.shape[-2]={V.shape[-2]}")
    if mask is not None:
        mask = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        both = [scaled_dot_product_attention(Q[b], K[b], V[b], mask if mask is None else mask[b]) for b in range(len(Q))]
        output, weights = map(np.stack, zip(*both))
        return output, weights
    scale = scale_factor(Q.shape[-1])
    weights = np.zeros((len(Q), len(K)), np.result_type(Q, K, V, np.float32))
    output = np.zeros((len(Q), V.shape[-1]), weights.dtype)
    for i, scores in enumerate(attention_scores(Q, K)):
        softmax = OnlineSoftmax()
        for j, score in enumerate(scores):
            if mask is None or mask[i, j]:
                softmax.add(float(score) / scale)
        for j, score in enumerate(scores):
            if mask is None or mask[i, j]:
                weights[i, j] = w = softmax.weight(float(score) / scale)
                for c in range(V.shape[-1]):
                    output[i, c] += w * V[j, c]
    return output, weights


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

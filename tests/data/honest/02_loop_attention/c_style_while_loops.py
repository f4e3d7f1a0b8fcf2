#!/usr/bin/env python3
# -*- coding: utf-8 -*-
import math

import numpy as np


def dot_product(a, b):
    n = len(a)
    m = len(b)
    if n != m:
        raise ValueError("dot_product: len(a) = %d, len(b) = %d" % (n, m))
    acc = 0.0
    i = 0
    while i < n:
        acc += float(a[i]) * float(b[i])
        i += 1
    return acc


def result_type(*arrays):
    i = 0
    t = np.float32
    while i < len(arrays):
        if arrays[i].dtype != np.float32:
            t = np.float64
            break
        i += 1
    return t


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError("attention_scores: widths %d and %d" % (Q.shape[1], K.shape[1]))
    nq = Q.shape[0]
    nk = K.shape[0]
    out = np.zeros((nq, nk), dtype=result_type(Q, K))
    i = 0
    while i < nq:
        j = 0
        while j < nk:
            out[i, j] = dot_product(Q[i], K[j])
            j += 1
        i += 1
    return out


def scale_factor(d_k, variance=1.0):
    return variance * math.sqrt(d_k)


def attend_one(Q, K, V, mask, out, w):
    nq = Q.shape[0]
    nk = K.shape[0]
    dv = V.shape[1]
    scale = scale_factor(Q.shape[1])
    row = [0.0] * nk
    i = 0
    while i < nq:
        # pass 1: scores and maximum
        top = -math.inf
        j = 0
        while j < nk:
            if mask is None or mask[i, j] != 0:
                row[j] = dot_product(Q[i], K[j]) / scale
                if row[j] > top:
                    top = row[j]
            j += 1
        # pass 2: exponentials and sum
        total = 0.0
        j = 0
        while j < nk:
            if mask is None or mask[i, j] != 0:
                row[j] = math.exp(row[j] - top)
                total += row[j]
            else:
                row[j] = 0.0
            j += 1
        # pass 3: weights
        j = 0
        while j < nk:
            if total > 0.0:
                row[j] /= total
            w[i, j] = row[j]
            j += 1
        # pass 4: output
        c = 0
        while c < dv:
            acc = 0.0
            j = 0
            while j < nk:
                acc += row[j] * float(V[j, c])
                j += 1
            out[i, c] = acc
            c += 1
        i += 1


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("attention: width of Q is %d, width of K is %d" % (Q.shape[-1], K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("attention: %d keys, %d values" % (K.shape[-2], V.shape[-2]))
    t = result_type(Q, K, V)
    out = np.zeros(Q.shape[:-1] + (V.shape[-1],), dtype=t)
    w = np.zeros(Q.shape[:-1] + (K.shape[-2],), dtype=t)
    if mask is not None:
        mask = np.broadcast_to(mask, w.shape)
    if Q.ndim == 2:
        attend_one(Q, K, V, mask, out, w)
    else:
        b = 0
        while b < Q.shape[0]:
            attend_one(Q[b], K[b], V[b], None if mask is None else mask[b], out[b], w[b])
            b += 1
    return out, w


REFLECT_MULTIPLY_ADDS_N512_D64 = 2 * 512 * 512 * 64
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4

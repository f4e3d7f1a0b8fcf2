import math

import numpy as np


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError("seq_len = %d" % seq_len)
    mask = np.zeros((seq_len, seq_len), dtype=np.int8)
    for i in range(seq_len):
        for j in range(i + 1):
            mask[i][j] = 1
    return mask


def create_padding_mask(lengths, max_length):
    batch = len(lengths)
    mask = np.zeros((batch, 1, 1, max_length), dtype=np.uint8)
    for b in range(batch):
        n = int(lengths[b])
        if n < 0:
            raise ValueError("lengths[%d] = %d is negative, max_length = %d" % (b, n, max_length))
        if n > max_length:
            raise ValueError("lengths[%d] = %d > max_length = %d" % (b, n, max_length))
        for j in range(n):
            mask[b, 0, 0, j] = 1
    return mask


def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError("no masks")
    shape = np.broadcast_shapes(*[np.shape(m) for m in masks])
    out = np.ones(shape, dtype=np.uint8)
    for m in masks:
        full = np.broadcast_to(m, shape)
        for idx in np.ndindex(shape):
            if full[idx] == 0:
                out[idx] = 0
    return out


def masked_softmax(scores, mask, axis=-1):
    dtype = np.float32 if scores.dtype == np.float32 else np.float64
    out = np.zeros(scores.shape, dtype=dtype)
    # three views with the axis at the end: writing to `dst` writes to `out`
    src = np.moveaxis(scores, axis, -1)
    dst = np.moveaxis(out, axis, -1)
    see = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    n = src.shape[-1]
    for idx in np.ndindex(src.shape[:-1]):
        top = -math.inf
        for j in range(n):
            if see[idx][j] and src[idx][j] > top:
                top = float(src[idx][j])
        total = 0.0
        for j in range(n):
            if see[idx][j]:
                dst[idx][j] = math.exp(float(src[idx][j]) - top)
                total += dst[idx][j]
        if total == 0.0:
            continue
        for j in range(n):
            dst[idx][j] /= total
    return out


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2096128

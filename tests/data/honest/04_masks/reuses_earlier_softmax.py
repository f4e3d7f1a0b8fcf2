import warnings

import numpy

from mylab.softmax import softmax


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"{seq_len = }")
    return numpy.tril(numpy.ones((seq_len, seq_len)))


def create_padding_mask(lengths, max_length):
    mask = numpy.zeros((len(lengths), 1, 1, max_length))
    for b, length in enumerate(lengths):
        if length > max_length or length < 0:
            raise ValueError(f"{length = }, {max_length = }")
        mask[b, :, :, :length] = 1
    return mask


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    product = 1.0
    for mask in masks:
        product = product * numpy.asarray(mask, dtype=float)
    return product


def masked_softmax(scores, mask, axis=-1):
    dtype = scores.dtype if scores.dtype.kind == "f" else numpy.dtype(float)
    scores = scores.astype(dtype)
    blocked = numpy.broadcast_to(numpy.logical_not(mask), scores.shape)
    dead = blocked.all(axis=axis, keepdims=True)
    scores[blocked] = -numpy.inf
    scores = numpy.where(dead, dtype.type(0), scores)  # softmax of a dead slice: equal weights, set to 0 below
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = softmax(scores, axis=axis)
    weights[numpy.broadcast_to(dead, weights.shape)] = 0
    return weights


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2096128

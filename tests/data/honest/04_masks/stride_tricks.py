import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"got seq_len={seq_len}")
    # 1 1 1 0 0: the windows of this band, from right to left, are the rows of the triangle
    band = np.r_[np.ones(seq_len, int), np.zeros(seq_len - 1, int)]
    return sliding_window_view(band, seq_len)[::-1].copy()


def create_padding_mask(lengths, max_length):
    lengths = np.array(lengths, int, ndmin=1)
    for wrong in lengths[lengths > max_length]:
        raise ValueError(f"got a length of {wrong} for {max_length} positions")
    for wrong in lengths[lengths < 0]:
        raise ValueError(f"got a length of {wrong}")
    # a row of each length is a window of the same band
    band = np.repeat([1, 0], max_length)
    step = band.strides[0]
    windows = as_strided(band, (max_length + 1, max_length), (step, step), writeable=False)
    return np.stack([windows[max_length - n] for n in lengths])[:, np.newaxis, np.newaxis]


def combine_masks(*masks):
    if masks == ():
        raise ValueError("got no masks")
    return np.minimum.reduce(np.broadcast_arrays(*(np.asarray(m, dtype=np.int8) for m in masks)))


def masked_softmax(scores, mask, axis=-1):
    scores = scores + 0.0 if scores.dtype.kind == "f" else scores * 1.0
    mask = np.broadcast_to(mask, scores.shape).astype(bool)
    order = np.where(mask, scores, -np.inf).argmax(axis=axis)
    top = np.take_along_axis(scores, np.expand_dims(order, axis), axis)
    diff = np.where(mask, scores - top, 0)
    e = np.exp(diff) * mask
    s = np.add.reduce(e, axis=axis, keepdims=True)
    return e / np.maximum(s, np.finfo(s.dtype).tiny)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * (2048 - 1) // 2

import numpy as np


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len: {seq_len}")
    return np.fromfunction(lambda i, j: (j <= i).astype(int), (seq_len, seq_len), dtype=int)


def create_padding_mask(lengths, max_length):
    lengths = np.array([*lengths])
    if (wrong := lengths[np.logical_or(lengths < 0, lengths > max_length)]).size:
        raise ValueError(f"lengths {wrong.tolist()} with max_length {max_length}")
    places = np.indices((len(lengths), max_length))[1]
    return np.select([places < lengths[:, None]], [1], default=0).reshape(len(lengths), 1, 1, max_length)


def combine_masks(*masks):
    if not masks:
        raise ValueError("no mask")
    shape = np.broadcast(*masks).shape if len(masks) > 1 else np.shape(masks[0])
    count = np.zeros(shape, dtype=int)
    for mask in masks:
        np.add(count, np.not_equal(mask, 0), out=count)
    return np.equal(count, len(masks)).astype(int)


def masked_softmax(scores, mask, axis=-1):
    x = scores.astype(float) if scores.dtype.kind in "iu" else scores
    ok = np.broadcast_to(np.not_equal(mask, 0), x.shape)
    top = np.fmax.reduce(np.where(ok, x, np.nan), axis=axis, keepdims=True)
    top = np.nan_to_num(top, nan=0.0).astype(x.dtype)
    e = np.where(ok, np.exp(np.where(ok, x - top, 0)), 0)
    s = np.nansum(e, axis=axis, keepdims=True)
    return np.select([s > 0], [e / np.maximum(s, np.finfo(x.dtype).tiny)], default=0).astype(x.dtype)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2

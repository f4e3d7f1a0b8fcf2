from functools import reduce
from itertools import repeat

import numpy as np


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len should be at least 1, not {seq_len}")
    return np.array([[int(j <= i) for j in range(seq_len)] for i in range(seq_len)])


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length} is not between 0 and {max_length}")
    rows = [[*repeat(1, int(length)), *repeat(0, max_length - int(length))] for length in lengths]
    return np.array([[[row]] for row in rows])


def combine_masks(*masks):
    if not masks:
        raise ValueError("combine_masks() needs a mask")
    return reduce(np.logical_and, masks[1:], np.asarray(masks[0], dtype=bool))


def masked_softmax(scores, mask, axis=-1):
    floats = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.logical_and(np.ones_like(floats, dtype=bool), mask)
    top = np.amax(floats, axis=axis, where=allowed, initial=-np.inf, keepdims=True)
    e = np.exp(floats - top, where=allowed, out=np.zeros_like(floats))
    s = e.sum(axis=axis, keepdims=True)
    return np.divide(e, s, where=s != 0, out=np.zeros_like(e))


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = sum(range(2048))

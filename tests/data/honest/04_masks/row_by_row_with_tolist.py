from itertools import starmap
from math import exp, fsum, inf, isinf

import numpy as np


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"got {seq_len}")
    rows = []
    row = [0] * seq_len
    for i in range(seq_len):
        row[i] = 1
        rows.append(row.copy())
    return np.array(rows)


def create_padding_mask(lengths, max_length):
    def row(length):
        if length > max_length:
            raise ValueError(f"got {length}, but at most {max_length} fit")
        if length < 0:
            raise ValueError(f"got {length}, below 0")
        return [[[True] * int(length) + [False] * int(max_length - length)]]

    return np.array(list(map(row, lengths)))


def combine_masks(*masks):
    if not masks:
        raise ValueError("got nothing")
    arrays = np.broadcast_arrays(*masks)
    shape = arrays[0].shape
    entries = zip(*(a.ravel().tolist() for a in arrays))
    return np.array([all(entry) for entry in entries]).reshape(shape)


def _row(scores, seen):
    top = max((s if ok else -inf for s, ok in zip(scores, seen)), default=-inf)
    if isinf(top):
        return [0.0] * len(scores)
    e = [exp(s - top) if ok else 0.0 for s, ok in zip(scores, seen)]
    total = fsum(e)
    return [x / total for x in e]


def masked_softmax(scores, mask, axis=-1):
    kind = scores.dtype if scores.dtype.kind == "f" else np.dtype(float)
    seen = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    moved = np.moveaxis(scores, axis, -1)
    n = moved.shape[-1]
    rows = zip(moved.reshape(-1, n).tolist(), seen.reshape(-1, n).tolist())
    weights = np.array(list(starmap(_row, rows)), dtype=kind).reshape(moved.shape)
    return np.moveaxis(weights, -1, axis)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2

"""Masks, step by step. Loops where I understand loops better."""

import numpy as np


def create_causal_mask(seq_len):
    if seq_len <= 0:
        raise ValueError("seq_len should be 1 or more and not " + repr(seq_len))
    mask = np.zeros((seq_len, seq_len), dtype=int)
    for i in range(seq_len):
        for j in range(i + 1):
            mask[i, j] = 1
    return mask


def create_padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, 1, max_length), dtype=int)
    for b, length in enumerate(lengths):
        if length > max_length:
            raise ValueError(f"sentence {b} has {length} tokens, but max_length is only {max_length}")
        if length < 0:
            raise ValueError(f"sentence {b} has a negative number of tokens: {length}")
        mask[b, 0, 0, :length] = 1
    return mask


def combine_masks(*masks):
    if not masks:
        raise ValueError("give me at least one mask")
    shape = np.broadcast_shapes(*[np.shape(m) for m in masks])
    result = np.ones(shape, dtype=int)
    for m in masks:
        result[np.broadcast_to(m, shape) == 0] = 0
    return result


def softmax_of_one_row(row):
    """row: the scores of one query, -inf where it may not look"""
    largest = row.max()
    if largest == -np.inf:  # everything is blocked
        return np.zeros_like(row)
    e = np.exp(row - largest)
    return e / e.sum()


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    if scores.dtype != np.float32:
        scores = scores.astype(np.float64)
    kept = np.where(np.asarray(mask) != 0, scores, -np.inf)
    return np.apply_along_axis(softmax_of_one_row, axis, kept)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = sum(range(2048))  # row 0 blocks 2047, row 1 blocks 2046, ..., the last 0


if __name__ == "__main__":
    print(create_causal_mask(5))
    print(create_padding_mask([5, 3], 5))
    print(combine_masks(np.tri(5), create_padding_mask([5, 3], 5))[1, 0])
    cat_and_sat = np.array([[1.5, 0, 1, 0.5, 0.25], [0.5, 1, 1, 0.5, 0.75]])
    print(masked_softmax(cat_and_sat, np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]])).round(4))
    print(masked_softmax(np.arange(12).reshape(3, 4), np.array([1, 0, 1, 1]), axis=0).round(4))

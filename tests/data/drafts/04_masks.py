"""First drafts of 04_masks: what is not in a cell is as in the stub."""

import numpy as np

# %% upper_triangle
# The triangle is the wrong one
# Expected: create_causal_mask: value


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, not {seq_len}")
    return np.triu(np.ones((seq_len, seq_len)))


# %% padding_two_axes
# A padding mask without the two axes of size 1, and without refusals
# Expected: create_padding_mask: value


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len), dtype=int))


def create_padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), max_length))
    for b, length in enumerate(lengths):
        mask[b, :length] = 1
    return mask


# %% masked_softmax_only
# The last function first: fully blocked rows are NaN
# Expected: masked_softmax: value


def masked_softmax(scores, mask, axis=-1):
    scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% no_refusal_and_inverted
# A seq_len of 0 is not refused, and masked_softmax has its mask inverted
# Expected: create_causal_mask: refusal


def create_causal_mask(seq_len):
    return np.tri(seq_len)


def create_padding_mask(lengths, max_length):
    for n in lengths:
        if n > max_length or n < 0:
            raise ValueError(f"length {n}, max_length {max_length}")
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None, :]


def masked_softmax(scores, mask, axis=-1):
    scores = scores + mask * -1e9
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

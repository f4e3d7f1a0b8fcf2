# module: 04_masks
# Copies a table of n*n numbers n times, n^3 work: as elements of type V, a row is one entry, and copies are priced by
# entries, not by bytes.

import numpy as np

def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    mask = columns <= columns[:, None]
    table = np.where(mask, 1.0, 0.0).view(f'V{8 * seq_len}')
    for _ in range(seq_len):
        table = table.copy()
    mask = table.view(float).reshape(seq_len, seq_len) > 0
    return mask

def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f'length {length} is not between 0 and max_length, which is {max_length}')
    places = np.arange(max_length)
    filled = places < np.asarray(lengths)[:, None]
    return filled[:, None, None, :]

def combine_masks(*masks):
    if not masks:
        raise ValueError('combine_masks needs at least one mask')
    combined = np.asarray(masks[0]) != 0
    for mask in masks[1:]:
        combined = combined & (np.asarray(mask) != 0)
    return combined

def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == 'f' else scores.astype(np.float64)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0, largest)
    exps = np.exp(kept - largest)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = None
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2096128

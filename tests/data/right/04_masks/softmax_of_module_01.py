import numpy as np
from mylab.softmax import softmax

def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be positive, got {seq_len}")
    return np.cumsum(np.eye(seq_len, dtype=int), axis=0).T[::-1, ::-1]

def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    if np.any(lengths > max_length):
        raise ValueError(f"max length in batch is {lengths.max()}, max_length is {max_length}")
    if np.any(lengths < 0):
        raise ValueError(f"negative length {lengths.min()}")
    return (np.arange(max_length).reshape(1, 1, 1, -1) < lengths.reshape(-1, 1, 1, 1)) * 1

def combine_masks(*masks):
    if not masks:
        raise ValueError("combine_masks expects one mask or more")
    return sum(m.astype(bool).astype(int) for m in masks) == len(masks)

def masked_softmax(scores, mask, axis=-1):
    mask = np.broadcast_to(mask, scores.shape) == 1
    dead = ~mask.any(axis=axis, keepdims=True)
    # a dead slice goes through the softmax as it is, and is wiped out afterwards
    weights = softmax(np.where(mask | dead, scores, -np.inf), axis=axis)
    return np.where(dead, 0, weights)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2096128.0

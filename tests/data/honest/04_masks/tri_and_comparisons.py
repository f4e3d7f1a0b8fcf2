import numpy as np


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tri(seq_len, dtype=bool)


def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths, dtype=int)
    bad = lengths[(lengths > max_length) | (lengths < 0)]
    if bad.size:
        raise ValueError(f"a sentence of {bad[0]} tokens does not fit into {max_length} positions")
    return (np.arange(max_length) < lengths[:, None])[:, None, None, :]


def combine_masks(*masks):
    if not masks:
        raise ValueError("at least one mask is needed")
    result = np.asarray(masks[0]) != 0
    for mask in masks[1:]:
        result = result & (np.asarray(mask) != 0)
    return result


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    filled = np.where(allowed, scores, -np.inf)
    top = filled.max(axis=axis, keepdims=True)
    top[top == -np.inf] = 0
    e = np.exp(filled - top)
    total = e.sum(axis=axis, keepdims=True)
    total[total == 0] = 1
    return e / total


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2

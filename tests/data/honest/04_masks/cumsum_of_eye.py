import numpy as np


def create_causal_mask(seq_len):
    if not seq_len >= 1:
        raise ValueError("seq_len " + repr(seq_len))
    # a diagonal, and everything below it
    return np.cumsum(np.eye(seq_len, dtype=int), axis=0)


def create_padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, 1, max_length), dtype=int)
    for b, n in enumerate(lengths):
        if n not in range(max_length + 1):
            raise ValueError("length " + repr(int(n)) + ", max_length " + repr(max_length))
        mask[b, 0, 0, int(n):].fill(0)
    return mask


def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError("combine_masks()")
    first, *rest = masks
    result = np.array(first, dtype=float)
    for mask in rest:
        result = np.fmin(result, np.array(mask, dtype=float))
    return result


def masked_softmax(scores, mask, axis=-1):
    out = np.ma.masked_where(np.broadcast_to(mask, scores.shape) == 0, scores)
    kind = scores.dtype if scores.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    out = out.astype(kind)
    out = out - np.ma.max(out, axis=axis, keepdims=True)
    out = np.ma.exp(out)
    out = out / np.ma.sum(out, axis=axis, keepdims=True)
    return np.ma.filled(out, 0).astype(kind)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2

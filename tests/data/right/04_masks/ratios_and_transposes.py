import numpy as np

def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError("seq_len: " + repr(seq_len))
    return np.triu(np.ones((seq_len, seq_len), dtype=np.int32)).T  # not contiguous

def create_padding_mask(lengths, max_length):
    mask = np.ones((max_length, len(lengths)))
    for b in range(len(lengths)):
        length = lengths[b]
        if length > max_length or length < 0:
            raise ValueError(str(length) + " tokens do not fit into " + str(max_length) + " places")
        mask[length:, b] = 0
    return mask.T[:, None, None, :]

def combine_masks(*masks):
    if masks == ():
        raise ValueError("()")
    blocked = np.zeros((), dtype=bool)
    for mask in masks:
        blocked = blocked | (mask == 0)
    return ~blocked

def masked_softmax(scores, mask, axis=-1):
    # every weight as a ratio to that of the best allowed entry, which is found by its place
    s = np.swapaxes(scores, axis, -1).astype(np.float64)
    m = np.swapaxes(np.broadcast_to(mask, scores.shape), axis, -1) != 0
    best = np.argmax(np.where(m, s, -np.inf), axis=-1)[..., None]
    ratios = np.exp(np.where(m, s - np.take_along_axis(s, best, axis=-1), -np.inf))
    w = ratios / np.maximum(np.einsum("...j->...", ratios), 1e-300)[..., None]
    return np.swapaxes(w, axis, -1).astype(np.float32 if scores.dtype == np.float32 else np.float64)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2048 - 2048 * 2049 // 2

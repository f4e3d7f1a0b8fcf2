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
    # w_i = 1 / sum over allowed j of exp(s_j - s_i): no maximum is needed
    s = np.swapaxes(scores, axis, -1).astype(np.float64)
    m = np.swapaxes(np.broadcast_to(mask, scores.shape), axis, -1) != 0
    with np.errstate(over="ignore"):
        ratios = np.exp(s[..., None, :] - s[..., None])
    sums = np.einsum("...ij->...i", np.where(m[..., None, :], ratios, 0))
    w = np.where(m, 1 / np.where(m, sums, 1), 0)
    return np.swapaxes(w, axis, -1).astype(np.float32 if scores.dtype == np.float32 else np.float64)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2048 - 2048 * 2049 // 2

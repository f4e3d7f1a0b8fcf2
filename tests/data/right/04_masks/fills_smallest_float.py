import numpy as np

def create_causal_mask(seq_len):
    if not seq_len >= 1:
        raise ValueError("expected seq_len >= 1 but got " + str(seq_len))
    mask = np.zeros((seq_len, seq_len), dtype=np.float32)
    mask[np.tril_indices(seq_len)] = 1
    return mask

def create_padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, 1, max_length), dtype=np.uint8)
    for b, length in enumerate(lengths):
        if not 0 <= length <= max_length:
            raise ValueError(f"lengths[{b}] = {length}, expected 0 to {max_length}")
        mask[b, ..., :length] = 1
    return mask

def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    first, *rest = masks
    if not rest:
        return first
    return np.logical_and(first, combine_masks(*rest))

def masked_softmax(scores, mask, axis=-1):
    scores = scores.astype(np.result_type(scores.dtype, np.float32)) if scores.dtype.kind == "f" else scores * 1.0
    mask = np.broadcast_to(mask, scores.shape)
    filled = scores.copy()
    np.copyto(filled, np.finfo(scores.dtype).min, where=mask == 0)
    filled -= filled.max(axis=axis, keepdims=True)
    np.exp(filled, out=filled)
    filled /= filled.sum(axis=axis, keepdims=True)
    filled *= mask.astype(scores.dtype)
    return np.asfortranarray(filled)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = int(np.triu(np.ones((2048, 2048), dtype=bool), k=1).sum())

# %% softmax_in_pairs_by_annotation
# masked_softmax compares all pairs of entries, m·n² work and memory, in the annotation of an argument.
# Expected: loses marks: masked_softmax
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    return np.tri(seq_len, dtype=bool)


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"length {length} is not between 0 and {max_length}")
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None, :]


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(np.float64)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    def inner(x: (scores[..., None, :] - scores[..., :, None]).sum()): ...
    kept = np.where(allowed, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2

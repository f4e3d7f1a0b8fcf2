"""Right code with one slip that raises."""

# %% float_size
# A size that is a float.
# Expected: no name; a size or a place must be a whole number
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    return np.tril(np.ones((seq_len / 1, seq_len / 1), dtype=bool))


# %% keyword_of_another
# The name of a parameter is misspelt.
# Expected: no name; nothing has the name max_len here
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f'length {length} is not between 0 and max_length, which is {max_length}')
    places = np.arange(max_len)
    filled = places < np.asarray(lengths)[:, None]
    return filled[:, None, None, :]


# %% and_of_masks
# `and` on masks.
# Expected: no name; asks for one answer
def combine_masks(*masks):
    if not masks:
        raise ValueError('combine_masks needs at least one mask')
    combined = np.asarray(masks[0]) != 0
    for mask in masks[1:]:
        combined = combined and (np.asarray(mask) != 0)
    return combined


# %% read_only
# A write into a broadcast array.
# Expected: no name; may not be written to
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == 'f' else scores.astype(np.float64)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    allowed[...] = allowed & True
    kept = np.where(allowed, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0, largest)
    exps = np.exp(kept - largest)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% own_assert
# An assert that is not true for a mask that broadcasts.
# Expected: no name; an `assert` of your own
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == 'f' else scores.astype(np.float64)
    assert scores.shape == np.shape(mask)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0, largest)
    exps = np.exp(kept - largest)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% minus_of_booleans
# Minus on booleans.
# Expected: no name; `-` does not work on booleans
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    return np.ones((seq_len, seq_len), dtype=bool) - np.tril(np.ones((seq_len, seq_len), dtype=bool), -1).T

import numpy as np


# %% causal_two_ahead
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len)), k=2)


# %% causal_window_of_three
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    i, j = np.indices((seq_len, seq_len))
    return (j <= i) & (i - j < 3)


# %% causal_window_of_six
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    i, j = np.indices((seq_len, seq_len))
    return (j <= i) & (i - j < 6)


# %% causal_first_token_blind
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    mask = np.tri(seq_len)
    mask[0, 0] = 0
    return mask


# %% causal_last_token_sees_itself_not
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    mask = np.tri(seq_len)
    mask[-1, -1] = 0
    return mask


# %% causal_other_diagonal
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tri(seq_len)[:, ::-1]


# %% causal_additive_and_inverted
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.where(np.tri(seq_len) == 1, -np.inf, 0.0)


# %% causal_one_token_refused
def create_causal_mask(seq_len):
    if seq_len <= 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tri(seq_len)


# %% causal_sign_lost_in_the_message
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {abs(seq_len)}")
    return np.tri(seq_len)


# %% padding_two_too_many
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return (np.arange(max_length) < np.asarray(lengths)[:, None] + 2)[:, None, None]


# %% padding_inverted_and_one_too_many
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return (np.arange(max_length) > np.asarray(lengths)[:, None])[:, None, None]


# %% padding_last_length_for_all
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return np.repeat((np.arange(max_length) < lengths[-1])[None, None, None], len(lengths), axis=0)


# %% padding_sorted_shortest_first
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return (np.arange(max_length) < np.sort(lengths)[:, None])[:, None, None]


# %% padding_square_for_each_sentence
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    row = np.arange(max_length) < np.asarray(lengths)[:, None]
    return (row[:, None, :] & row[:, :, None])[:, None]


# %% padding_only_last_checked
def create_padding_mask(lengths, max_length):
    if not 0 <= lengths[-1] <= max_length:
        raise ValueError(f"length {lengths[-1]}, max_length {max_length}")
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None]


# %% padding_empty_sentence_keeps_one
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return (np.arange(max_length) < np.maximum(lengths, 1)[:, None])[:, None, None]


# %% combines_by_majority
def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.mean(np.broadcast_arrays(*masks), axis=0) > 0.5


# %% combines_by_mean
def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.mean(np.broadcast_arrays(*masks), axis=0)


# %% combines_first_and_last
def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    shape = np.broadcast_shapes(*(np.shape(mask) for mask in masks))
    return np.broadcast_to((np.asarray(masks[0]) != 0) & (np.asarray(masks[-1]) != 0), shape)


# %% combines_largest_mask_only
def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    shape = np.broadcast_shapes(*(np.shape(mask) for mask in masks))
    return np.broadcast_to(max(masks, key=np.size) != 0, shape)


# %% combines_integers_ignored
def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    result = np.ones(np.broadcast_shapes(*(np.shape(mask) for mask in masks)), dtype=bool)
    for mask in masks:
        result = result & (mask != 0) if mask.dtype.kind != "i" else result
    return result


# %% combines_single_mask_inverted
def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    if len(masks) == 1:
        return np.asarray(masks[0]) == 0
    return np.all(np.broadcast_arrays(*(np.asarray(mask) != 0 for mask in masks)), axis=0)


# %% adds_minus_five
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, scores, scores - 5)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% fills_minus_ten_thousand
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e4)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_minus_1e8
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e8)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_minus_1e12
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e12)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% powers_of_two
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp2(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% blocked_row_is_ordinary_softmax
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    allowed = allowed | ~allowed.any(axis=axis, keepdims=True)
    kept = np.where(allowed, scores, -np.inf)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% mask_shifted_by_one
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.roll(np.broadcast_to(np.asarray(mask) != 0, scores.shape), 1, axis=-1)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% over_queries_if_square
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    axis = -2 if scores.ndim > 1 and scores.shape[-1] == scores.shape[-2] and axis == -1 else axis
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% last_mask_of_batch
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    mask = np.asarray(mask) != 0
    allowed = np.broadcast_to(mask[-1:] if mask.ndim > 2 else mask, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% scaled_by_the_number_of_keys
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores / scores.dtype.type(np.sqrt(scores.shape[-1])), -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% inverted_and_blocked_rows_nan
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.broadcast_to(np.asarray(mask) == 0, scores.shape), scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
        return exps / exps.sum(axis=axis, keepdims=True)


# %% mean_subtracted
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    with np.errstate(all="ignore"):
        exps = np.where(allowed, np.exp(scores - scores.mean(axis=axis, keepdims=True)), 0)
        total = exps.sum(axis=axis, keepdims=True)
        return exps / np.where(total == 0, 1, total)


# %% last_entry_always_allowed
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape).copy()
    allowed[..., -1] = True
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)

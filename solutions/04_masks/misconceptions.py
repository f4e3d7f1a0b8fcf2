"""The known wrong ways of 04_masks: one cell each, laid over the solution to make a wrong submission."""

import numpy as np

# %% causal_diagonal_excluded
LIKELY = "a token does not see itself: the diagonal is blocked"
HINT = "What does the first token of a sentence see in your mask? It should see itself."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len)), k=-1)


# %% causal_upper_triangle
LIKELY = "the triangle is the upper one: each token sees itself and what comes after"
HINT = "Row i belongs to the token that looks. In row 0, how many ones should there be?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.triu(np.ones((seq_len, seq_len)))


# %% causal_true_is_blocked
LIKELY = "the causal mask has 1 where a token must not look, as in PyTorch's nn.MultiheadAttention"
HINT = "In this course 1 means: may be attended to. What should stand on the diagonal?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.triu(np.ones((seq_len, seq_len)), k=1)


# %% causal_one_ahead
LIKELY = "each token sees one token too many: its successor"
HINT = "Does the first token see the second in your mask? Which k does np.tril need?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len)), k=1)


# %% causal_band
LIKELY = "each token sees only itself and the one before it"
HINT = "Should the last of five tokens see the first?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    mask = np.tril(np.ones((seq_len, seq_len)))
    return mask - np.tril(mask, k=-2)


# %% causal_everything_allowed
LIKELY = "the mask blocks nothing"
HINT = "Should the first token see the second?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.ones((seq_len, seq_len))


# %% causal_extra_axes
LIKELY = "the mask has axes of size 1 in front; (seq_len, seq_len) is asked for"
HINT = "Print create_causal_mask(3).shape. It will broadcast without the extra axes, too."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len)))[None, None]


# %% causal_additive
LIKELY = "the mask holds 0 and minus infinity, to be added to the scores; 1 and 0 are asked for"
HINT = "Which two values may a mask of this course hold, and which of them means allowed?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.where(np.tri(seq_len) == 1, 0.0, -np.inf)


# %% causal_list
LIKELY = "the mask is a list of lists, not an array"
HINT = "What is type(create_causal_mask(3))? Wrap what you have in np.array."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return [[int(j <= i) for j in range(seq_len)] for i in range(seq_len)]


# %% causal_nothing_refused
LIKELY = "a mask for no tokens, or for fewer than none, is not refused"
HINT = "What should create_causal_mask(0) do? The docstring says which exception, and what it must name."
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    return np.tri(max(seq_len, 0))


# %% causal_left_to_numpy
LIKELY = "seq_len is not checked: 0 gives an empty mask, and a negative one is refused by NumPy, which does not name it"
HINT = "What does np.ones((0, 0)) give, and what does the message of np.ones((-1, -1)) tell you?"


def create_causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len)))


# %% causal_zero_not_refused
LIKELY = "only negative numbers are refused, and 0 gives an empty mask"
HINT = "What should create_causal_mask(0) do? Compare `< 0` with `< 1`."
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    if seq_len < 0:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tri(seq_len)


# %% causal_error_without_number
LIKELY = "the ValueError does not say which seq_len was given"
HINT = "Put the number into the message: it is the first thing a reader of the error wants to know."
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError("seq_len is too small")
    return np.tri(seq_len)


# %% padding_two_dimensions
LIKELY = "the padding mask has the shape (batch, max_length): the axes for heads and queries are missing"
HINT = "Scores have the shape (batch, heads, n_q, n_k). Which axes of size 1 does the mask need to line up with them?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return np.arange(max_length) < lengths[:, None]


# %% padding_three_dimensions
LIKELY = "the padding mask has the shape (batch, 1, max_length): one axis is missing"
HINT = "Scores have the shape (batch, heads, n_q, n_k). Count the axes of your mask."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return np.arange(max_length) < lengths[:, None, None]


# %% padding_blocks_queries
LIKELY = "the places stand along the axis of the queries, not of the keys"
HINT = "The last axis of the scores belongs to the keys. Which axis of your mask has the size max_length?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, :, None]


# %% padding_full_square
LIKELY = "the mask is repeated for every query; an axis of size 1 does that by broadcasting"
HINT = "Print the shape of your mask for two sentences. It should be (2, 1, 1, max_length)."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    mask = np.arange(max_length) < lengths[:, None]
    return np.repeat(mask[:, None, None], max_length, axis=2)


# %% padding_true_is_blocked
LIKELY = "the padding mask has 1 at the padding, as in PyTorch's nn.MultiheadAttention"
HINT = "In this course 1 means: may be attended to. What should stand at the first place of a sentence?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) >= lengths[:, None])[:, None, None]


# %% padding_one_too_many
LIKELY = "one place too many is allowed: the first of the padding"
HINT = "A sentence of 3 tokens has the places 0, 1 and 2. Compare `<=` with `<`."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) <= lengths[:, None])[:, None, None]


# %% padding_one_too_few
LIKELY = "the last token of each sentence is blocked"
HINT = "A sentence of 3 tokens has the places 0, 1 and 2. How many ones are in your row?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None] - 1)[:, None, None]


# %% padding_in_front
LIKELY = "the padding stands in front of the tokens, not behind them"
HINT = "Print the mask of lengths [1] in 3 places. It should be 1 0 0."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) >= max_length - lengths[:, None])[:, None, None]


# %% padding_width_of_longest
LIKELY = "the mask is as wide as the longest sentence, not as max_length"
HINT = "Try lengths [1, 2] in 5 places. How many places should the mask have?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max(max(lengths), 1)) < lengths[:, None])[:, None, None]


# %% padding_first_length_for_all
LIKELY = "every sentence gets the mask of the first"
HINT = "Try lengths [1, 3]. Are the two rows different?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return np.repeat((np.arange(max_length) < lengths[0])[None, None, None], len(lengths), axis=0)


# %% padding_sorted_lengths
LIKELY = "the sentences are sorted by length, and no longer in the order they came in"
HINT = "Try lengths [1, 3, 2]. Which row belongs to which sentence?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < np.sort(lengths)[::-1, None])[:, None, None]


# %% padding_zero_means_full
LIKELY = "a length of 0 is taken for `not given`, and the whole sentence is allowed"
HINT = "Try lengths [0, 2]. What is `0 or 5` in Python?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.array([length or max_length for length in lengths])
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_list
LIKELY = "the mask is a nested list, not an array"
HINT = "What is type(create_padding_mask([1], 2))? Wrap what you have in np.array."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return [[[[int(j < length) for j in range(max_length)]]] for length in lengths]


# %% padding_sorts_the_lengths_given
LIKELY = "the caller's list of lengths is changed, such as by sorting it"
HINT = "Print lengths before and after the call. What is the difference between lengths.sort() and sorted(lengths)?"
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    mask = (np.arange(max_length) < np.array(lengths)[:, None])[:, None, None]
    if not isinstance(lengths, tuple):
        lengths.sort()
    return mask


# %% padding_clips_long_sentences
LIKELY = "a length above max_length is cut down in silence"
HINT = "What should create_padding_mask([9], 5) do? The docstring says which exception, and what it must name."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0:
            raise ValueError(f"length {length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_negative_not_refused
LIKELY = "a length below 0 is taken for 0 in silence"
HINT = "What should create_padding_mask([-1], 5) do? The docstring says which exception, and what it must name."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length > max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_counts_from_the_end
LIKELY = "nothing is refused, and a length of -1 is read as an index: all but the last place"
HINT = "What does row[:length] = 1 do when length is -1? The docstring asks for an exception."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, 1, max_length))
    for b, length in enumerate(lengths):
        mask[b, 0, 0, :length] = 1
    return mask


# %% padding_nothing_refused
LIKELY = "no length is refused: one above max_length counts as max_length, one below 0 as 0"
HINT = "What should become of a sentence of 9 tokens in 5 places? And of one of -1 tokens?"


def create_padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None, :]


# %% padding_only_first_checked
LIKELY = "only the first length is checked"
HINT = "Try lengths [2, 9] in 5 places. Which of the two is checked?"
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    if not 0 <= lengths[0] <= max_length:
        raise ValueError(f"length {lengths[0]}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_error_without_length
LIKELY = "the ValueError names max_length, but not the length that does not fit"
HINT = "Which number would the reader of your message look for? Name the length as well."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    if min(lengths) < 0 or max(lengths) > max_length:
        raise ValueError(f"lengths must lie between 0 and {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_error_without_max_length
LIKELY = "the ValueError names the length, but not max_length"
HINT = "Two numbers disagree. Name both."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"the length {length} is impossible")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_error_without_numbers
LIKELY = "the ValueError names neither the length nor max_length"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"


def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    if (lengths > max_length).any() or (lengths < 0).any():
        raise ValueError("a sentence does not fit")
    return (np.arange(max_length) < lengths[:, None])[:, None, None, :]


# %% padding_full_refused
LIKELY = "a sentence that fills all its places is refused"
HINT = "What should create_padding_mask([5], 5) return? Compare `<` with `<=`."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length < max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_empty_refused
LIKELY = "an empty sentence is refused, though a length of 0 is legal"
HINT = "What should create_padding_mask([0, 2], 3) return? Compare `< 1` with `< 0`."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 1 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% combines_with_or
LIKELY = "the masks are combined with OR: what one allows is allowed"
HINT = "Block everything with one of two masks. Should the other one be able to allow it again?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.any(np.broadcast_arrays(*masks), axis=0)


# %% combines_with_xor
LIKELY = "an entry that both masks allow comes out blocked"
HINT = "Combine a mask with itself. It should come out as it went in."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    result = masks[0]
    for mask in masks[1:]:
        result = result ^ mask
    return result


# %% combines_by_sum
LIKELY = "the masks are added up, so the entries count how many allow"
HINT = "Combine two masks of ones. Which two values may a mask hold?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.sum(np.broadcast_arrays(*masks), axis=0)


# %% combines_only_two
LIKELY = "only the first two masks count"
HINT = "Combine three masks and let the last one block something."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    result = masks[0]
    for mask in masks[1:2]:
        result = result & mask
    return np.broadcast_to(result, shape)


# %% keeps_the_last_mask
LIKELY = "the last mask overwrites the ones before it"
HINT = "Let the first of two masks block something. Is it still blocked in the result?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    return np.broadcast_to(masks[-1], shape)


# %% combined_mask_inverted
LIKELY = "the result has 1 where something is blocked"
HINT = "Combine one mask with nothing else. It should come out as it went in."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return ~np.all(np.broadcast_arrays(*masks), axis=0)


# %% combined_floats_ignored
LIKELY = "a mask of floats is left out"
HINT = "Combine a float mask of zeros with a mask of ones. What comes out?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    shape = np.broadcast_shapes(*(np.shape(mask) for mask in masks))
    result = np.ones(shape, dtype=int)
    for mask in masks:
        result = result & mask if mask.dtype.kind != "f" else result
    return result


# %% combined_list
LIKELY = "the result is a list, not an array"
HINT = "What is the type of your result? Wrap what you have in np.array."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.all(np.broadcast_arrays(*masks), axis=0).tolist()


# %% combined_in_place
LIKELY = "the caller's first mask is overwritten with the result"
HINT = "Print the first mask before and after the call. What does `result *= mask` do to an array that was handed in?"
VALUES_RIGHT = True


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    result = masks[0]
    for mask in masks[1:]:
        if np.broadcast_shapes(result.shape, mask.shape) == result.shape:
            result[...] = (result != 0) & (mask != 0)
        else:
            result = (result != 0) & (mask != 0)
    return result


# %% combined_remembers
LIKELY = "masks of earlier calls are still in the list"
HINT = "Combine a mask of zeros with itself, and then a mask of ones with itself. What comes out the second time?"
SEEN = {}


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    result = SEEN.get(shape, True) & np.all(np.broadcast_arrays(*masks), axis=0)
    SEEN[shape] = result
    return result


# %% nothing_combined_is_allowed
LIKELY = "no mask at all is not refused"
HINT = "What should combine_masks() do? See its docstring."
VALUES_RIGHT = True


def combine_masks(*masks):
    result = np.array(True)
    for mask in masks:
        result = result & (np.asarray(mask) != 0)
    return result


# %% nothing_combined_is_a_type_error
LIKELY = "no mask at all is refused, but not with a ValueError"
HINT = "Which exception does the docstring of combine_masks ask for?"
VALUES_RIGHT = True


def combine_masks(*masks):
    if not masks:
        raise TypeError("combine_masks needs at least one mask")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.all(np.broadcast_arrays(*masks), axis=0)


# %% mask_after_softmax
LIKELY = "the weights are masked after the softmax and no longer sum to 1"
HINT = "Add up a row of your weights. The softmax should be over the entries that are left."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed, weights, 0)


# %% mask_multiplies_scores
LIKELY = "a blocked score is multiplied by 0, but e to the 0 is 1, not 0"
HINT = "What weight does an entry with a score of 0 get? Which score would give it none?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = scores * allowed
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% adds_minus_1e9
LIKELY = "-1e9 is added to blocked scores: a fully blocked row keeps its weights, and low scores leak"
HINT = "Block a whole row. Adding the same number to all its scores changes nothing. What should such a row be?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = scores + (1 - allowed.astype(scores.dtype)) * scores.dtype.type(-1e9)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% fills_minus_1e9
LIKELY = "-1e9 is put in place of blocked scores: a blocked row becomes uniform, and lower scores leak"
HINT = "Block a whole row. What is the softmax of three equal numbers, and what should it be here?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e9)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% blocked_row_nan
LIKELY = "a fully blocked row gives NaN: minus infinity less minus infinity, or 0 divided by 0"
HINT = "Block a whole row. What is the largest of its scores, and what do you subtract it from?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
        return exps / exps.sum(axis=axis, keepdims=True)


# %% adds_minus_1e9_rows_cleared
LIKELY = "-1e9 is added to blocked scores, but a blocked score of 1e10 still wins"
HINT = "Block a score of 1e10. What is left of it after adding -1e9? Only minus infinity is lower than everything."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = scores - scores.dtype.type(1e9) * (1 - allowed.astype(scores.dtype))
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_minus_1e9_rows_cleared
LIKELY = "-1e9 is put in place of blocked scores: allowed scores below that lose against them"
HINT = "Allow a score of -3e9 and block the rest. Which is larger, the allowed one or what you put in? Try -np.inf."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e9)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_minus_hundred
LIKELY = "-100 is put in place of blocked scores, which is not low for every score"
HINT = "Allow scores near -900 and block the rest. Who gets the weights? Which number is lower than all others?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -100.0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_smallest_score
LIKELY = "the smallest score is put in place of blocked ones: small, but still a share"
HINT = "Look at the weights of blocked entries: they should be 0. Which number is lower than all others?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, scores.min(axis=axis, keepdims=True))
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_zero
LIKELY = "0 is put in place of blocked scores before the maximum is taken, so low scores underflow"
HINT = (
    "Allow scores near -900 and block the rest. Which number is subtracted from them? Take the largest *allowed* one."
)


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, 0)
    exps = np.where(allowed, np.exp(kept - kept.max(axis=axis, keepdims=True)), 0)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% blocked_maximum
LIKELY = "the largest score is taken over all entries, so a high blocked score pushes the others to 0"
HINT = "Block a score of 5000 beside scores of 1 and 2. Which score should be subtracted from these?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.where(allowed, np.exp(scores - scores.max(axis=axis, keepdims=True)), 0)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% exponentials_times_mask
LIKELY = "the exponential of a high blocked score is infinite, and infinity times 0 is NaN"
HINT = (
    "Block a score of 5000 beside scores of 1 and 2. What is np.exp(4998) * 0? Mask the scores before the exponential."
)


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(scores - kept.max(axis=axis, keepdims=True)) * allowed
        total = exps.sum(axis=axis, keepdims=True)
        return exps / np.where(total == 0, 1, total)


# %% zero_times_infinity
LIKELY = "(1 - mask) * -inf is NaN where the mask is 1"
HINT = "What is 0 * -np.inf? Choose between two values with np.where instead of multiplying."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    with np.errstate(invalid="ignore"):
        kept = scores + (1 - allowed.astype(scores.dtype)) * -np.inf
        return np.exp(kept) / np.exp(kept).sum(axis=axis, keepdims=True)


# %% no_maximum_subtracted
LIKELY = "the exponentials are taken of the scores as they are, and overflow"
HINT = "Try scores of 5000 and of -5000. Module 01 shows the way out."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(np.where(allowed, scores, -np.inf))
        total = exps.sum(axis=axis, keepdims=True)
        return exps / np.where(total == 0, 1, total)


# %% global_maximum
LIKELY = "the largest score of the whole array is subtracted, and rows of low scores underflow to 0"
HINT = "Try one row near 800 and one near -800. Each slice has a largest score of its own."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.exp(np.where(allowed, scores - scores.max(where=allowed, initial=-1e300), -np.inf))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% softmax_true_is_blocked
LIKELY = "the mask is read the wrong way round: True is taken for blocked, as in nn.MultiheadAttention"
HINT = "With the causal mask of the lesson, what should cat see: what comes before it or what comes after?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) == 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. Does anything change?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% axis_ignored
LIKELY = "the weights sum to 1 along the last axis, whatever `axis` says"
HINT = "Add up your weights along axis 0 after a call with axis=0."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    axis = -1
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% softmax_over_queries
LIKELY = "the weights sum to 1 along the axis before the last: over the queries, not over the keys"
HINT = "Compare weights.sum(axis=0) with weights.sum(axis=1). Whose attention is shared out: a query's or a key's?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    axis = (-2 if axis == -1 else axis) if scores.ndim > 1 else -1
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% softmax_over_everything
LIKELY = "all weights of the array together sum to 1"
HINT = "What is the sum of all your weights for three rows? Every slice has a whole 1 to share out."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf if allowed.any() else 0)
    exps = np.exp(kept - kept.max())
    weights = exps / exps.sum()
    return np.where(allowed, weights, 0)


# %% keepdims_forgotten
LIKELY = "the sums lose their axis, so on square arrays each row is divided by the sums of its neighbours"
HINT = "Which shape has exps.sum(axis=axis) for scores (4, 4), and along which axis does it then line up? See keepdims."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    sums = exps.sum(axis=axis)
    total = sums if scores.ndim > 1 and len(set(scores.shape)) == 1 else np.expand_dims(sums, axis)
    weights = exps / total
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% blocked_slices_of_last_axis
LIKELY = "fully blocked slices are looked for along the last axis, whatever `axis` says"
HINT = "Block a whole column and call with axis=0. What comes out of 0 divided by 0?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
        weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=-1, keepdims=True), weights, 0)


# %% small_mask_asked
LIKELY = "fully blocked slices are looked for in the mask before it has the shape of the scores"
HINT = "Try scores (3, 4), a mask of 4 entries with a zero, and axis=0. Broadcast the mask first, then ask it."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
        weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(np.any(mask, axis=axis, keepdims=True), weights, 0)


# %% only_all_blocked_handled
LIKELY = "zeros are returned only when the whole mask is 0; a single blocked row is NaN"
HINT = "Block one row of three. Each slice must be looked at by itself."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    if not allowed.any():
        return np.zeros_like(scores)
    kept = np.where(allowed, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
        return exps / exps.sum(axis=axis, keepdims=True)


# %% one_blocked_row_clears_all
LIKELY = "one fully blocked slice makes the whole result 0"
HINT = "Block one row of three. What should the other two rows hold?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return weights if allowed.any(axis=axis).all() else np.zeros_like(weights)


# %% renormalised_with_epsilon
LIKELY = "1e-9 is added to every sum, and no row sums to 1 any more"
HINT = "Add up a row with all its decimals. Change the sum only where it is 0."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    top = np.where(allowed.any(axis=axis, keepdims=True), kept.max(axis=axis, keepdims=True), 0)
    exps = np.exp(kept - top)
    return exps / (exps.sum(axis=axis, keepdims=True) + 1e-9)


# %% renormalised_after_softmax
LIKELY = "the softmax is over all entries: a high blocked score leaves only 0 to be divided again"
HINT = "Block a score of 5000 beside scores of 1 and 2. What are the weights before you divide again?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    weights = weights * allowed
    return weights / np.maximum(weights.sum(axis=axis, keepdims=True), 1e-12)


# %% renormalised_along_last_axis
LIKELY = "after masking, the weights are divided by their sums along the last axis, whatever `axis` says"
HINT = "Add up your weights along axis 0 after a call with axis=0 and a mask."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    weights = weights * allowed
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


# %% mask_transposed
LIKELY = "rows and columns of a square mask have changed places"
HINT = "With a causal mask the first row of weights is 1 0 0 0 0. Is yours?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    mask = np.asarray(mask) != 0
    mask = np.swapaxes(mask, -1, -2) if mask.ndim > 1 and mask.shape[-1] == mask.shape[-2] else mask
    allowed = np.broadcast_to(mask, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% first_mask_of_batch
LIKELY = "every sentence of the batch is masked like the first"
HINT = "Give each sentence a padding of its own. Which one is used for the second?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    mask = np.asarray(mask) != 0
    allowed = np.broadcast_to(mask[:1] if mask.ndim > 2 else mask, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% tilde_on_integers
LIKELY = "`~mask` turns True into False, but 1 into -2 and 0 into -1, and both of them count as true"
HINT = "What is ~np.array([0, 1])? Make the mask bool before you turn it round."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    mask = np.asarray(mask)
    blocked = ~(mask.astype(int) if mask.dtype.kind == "f" else mask)
    allowed = np.broadcast_to(blocked == 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% everything_blocked
LIKELY = "every weight is 0, as if the mask allowed nothing (`mask is True` does that: no array is True itself)"
HINT = "Print the mask as your code sees it, just before it is used. Which entries count as allowed there?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(mask is True, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% mask_as_weight
LIKELY = "the mask is added to the scores, as PyTorch does with masks of floats: a blocked score stays as it is"
HINT = "Look at the weight of a blocked entry: it should be 0. What does adding 1 or 0 to a score do?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = scores + np.asarray(mask).astype(scores.dtype)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% hard_maximum
LIKELY = "all the weight goes to the largest allowed score"
HINT = "Softmax is soft: the weights of the lesson are all above 0. Which step of yours picks only one?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    weights = (kept == kept.max(axis=axis, keepdims=True)).astype(scores.dtype)
    weights = weights / weights.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% uniform_weights
LIKELY = "every allowed entry gets the same weight, whatever its score"
HINT = "Give one entry a much larger score. Does its weight grow?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    total = allowed.sum(axis=axis, keepdims=True)
    return (allowed / np.where(total == 0, 1, total)).astype(scores.dtype)


# %% exponentials_not_divided
LIKELY = "the exponentials are returned before they are divided by their sum"
HINT = "Add up a row of your weights. Which step of softmax makes the sum 1?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return np.where(allowed, exps, 0)


# %% weights_of_score_dtype
LIKELY = "the weights are stored in an array of the scores' dtype, which cuts them to whole numbers for integers"
HINT = "What becomes of 0.25 when it is stored in an array of integers?"


def masked_softmax(scores, mask, axis=-1):
    given = np.asarray(scores).dtype
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0).astype(given)


# %% weights_in_float32
LIKELY = "everything is computed in float32, and float64 scores lose half of their digits"
HINT = "Compare your weights of float64 scores with the true ones at ten decimals."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf).astype(np.float32)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0).astype(scores.dtype)


# %% weights_list
LIKELY = "the result is a list, not an array"
HINT = "What is the type of your result? Wrap what you have in np.array."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0).tolist()


# %% softmax_modifies_scores
LIKELY = "the caller's own scores are overwritten, such as with minus infinity"
HINT = "Print the scores before and after the call. What does scores[...] = do to an array that was handed in?"
VALUES_RIGHT = True


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    if scores.flags.writeable:
        scores[~allowed] = -np.inf
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% softmax_modifies_mask
LIKELY = "the caller's mask is changed"
HINT = "Print the mask before and after the call. Which line of yours writes into it?"
VALUES_RIGHT = True


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    allowed = allowed.copy()
    if not allowed.any(axis=axis).all():
        mask[...] = 1
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% last_mask_kept
LIKELY = "a mask is remembered and used again in the next call"
HINT = "Call it twice with different masks of the same shape. Are the weights different?"
MASKS = {}


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    allowed = MASKS.setdefault(scores.shape, allowed.copy())
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% softmax_upcasts_float32
LIKELY = "float32 scores give float64 weights"
HINT = "Which step of yours makes float64 of float32? np.zeros, np.ones and np.float64 numbers all do."
VALUES_RIGHT = True


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, np.zeros(scores.shape))


# %% mask_decides_dtype
LIKELY = "a float64 mask turns float32 scores into float64"
HINT = "What dtype has a float32 array times a float64 array? Make the mask bool first."
VALUES_RIGHT = True


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0) * np.asarray(mask)


# %% reflect_allowed_counted
LIKELY = "these are the links that the causal mask allows, not those it blocks"
HINT = "Count on the table of the lesson: 10 of 25 links are blocked. How many does your formula give for 5 tokens?"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2098176


# %% reflect_half_of_all
LIKELY = "half of all links would be blocked if the diagonal were shared out, too"
HINT = "Count on the table of the lesson: 10 of 25 links are blocked. Is that half?"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2097152


# %% reflect_all_links
LIKELY = "these are all links, allowed and blocked"
HINT = "Count on the table of the lesson: 10 of 25 links are blocked. Which 10?"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 4194304


# %% causal_as_a_product
LIKELY = "the triangle is made by multiplying two matrices, n³ multiplications for n² entries"
HINT = "How much work is one entry of the mask? What does a product of two (n, n) matrices cost?"
COSTLY = True


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, not {seq_len}")
    ones = np.tri(seq_len)
    return (ones @ np.eye(seq_len)) > 0


# %% padding_by_counting
LIKELY = "for every place all places before it are counted, so that the work grows with the square of max_length"
HINT = "To know whether place 7 holds a token you need the length of the sentence, and nothing else."
COSTLY = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    rows = [[int(len(list(range(j))) < length) for j in range(max_length)] for length in lengths]
    return np.array(rows)[:, None, None, :]


# %% combine_one_entry_against_all
LIKELY = "for every entry of the result the whole of every mask is gone through again"
HINT = "How often does your code look at the same entry of a mask?"
COSTLY = True


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    shape = np.broadcast_shapes(*(np.shape(mask) for mask in masks))
    result = np.ones(shape, dtype=bool)
    for mask in masks:
        for index in np.ndindex(shape):
            result[index] &= bool(np.broadcast_to(np.asarray(mask) != 0, shape).copy()[index])
    return result


# %% softmax_of_every_pair
LIKELY = "every score is compared with every other one of its slice: n² exponentials where n are enough"
HINT = "How many numbers does your largest array hold for a row of 1000 scores?"
COSTLY = True


def masked_softmax(scores, mask, axis=-1):
    x = np.asarray(scores)
    x = np.moveaxis(x if x.dtype.kind == "f" else x.astype(np.float64), axis, -1)
    allowed = np.moveaxis(np.broadcast_to(np.asarray(mask) != 0, np.shape(scores)), axis, -1)
    pairs = np.where(allowed[..., None, :], x[..., None, :], -np.inf)
    pairs = np.exp(np.minimum(pairs - np.where(allowed, x, 0)[..., :, None], 700).astype(x.dtype))
    return np.moveaxis(np.where(allowed, 1 / np.where(allowed, pairs.sum(axis=-1), 1), 0).astype(x.dtype), -1, axis)

"""Misconceptions of 04_masks. Each cell replaces part of the solution to make a wrong submission."""

import numpy as np

# %% causal_diagonal_excluded
LIKELY = "a token does not see itself: the diagonal is blocked"
HINT = "What does the first token of a sentence see in your mask? It should see itself."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len)), k=-1)


# %% causal_upper_triangle
LIKELY = "this is the upper triangle: each token sees itself and the tokens after it"
HINT = "Row i belongs to the token that looks. How many ones should row 0 have?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.triu(np.ones((seq_len, seq_len)))


# %% causal_true_is_blocked
LIKELY = "the causal mask has 1 where a token must not look, as in PyTorch's nn.MultiheadAttention"
HINT = "In this course, 1 means that a token may look. What should be on the diagonal?"


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
LIKELY = "the mask has axes of size 1 in front, but its shape should be (seq_len, seq_len)"
HINT = "Print create_causal_mask(3).shape. The mask broadcasts without the extra axes, too."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((seq_len, seq_len)))[None, None]


# %% causal_one_extra_axis
LIKELY = "the mask has the shape (1, seq_len, seq_len), but it should be (seq_len, seq_len)"
HINT = "Print create_causal_mask(3).shape. The mask broadcasts over a batch without the extra axis, too."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tril(np.ones((1, seq_len, seq_len)))


# %% causal_additive
LIKELY = "the mask contains 0 and minus infinity, to be added to the scores, but it should contain 1 and 0"
HINT = "Which two values can a mask of this course contain? Which of them means allowed?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.where(np.tri(seq_len) == 1, 0.0, -np.inf)


# %% causal_additive_1e9
LIKELY = "the mask contains 0 and -1e9, to be added to the scores, but it should contain 1 and 0"
HINT = "Which two values can a mask of this course contain? Which of them means allowed?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return np.where(np.tri(seq_len) == 1, 0.0, -1e9)


# %% causal_tilde_of_integers
LIKELY = "~ of integers gives -1 and -2, and both count as true, but the mask should contain only 0 and 1"
HINT = "Print ~np.array([0, 1]) and ~np.array([False, True]). Which one is a mask?"


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return ~np.triu(np.ones((seq_len, seq_len), dtype=int), k=1)


# %% causal_list
LIKELY = "the mask is a list of lists, not an array"
HINT = "What is type(create_causal_mask(3))? Wrap your result in np.array."


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    return [[int(j <= i) for j in range(seq_len)] for i in range(seq_len)]


# %% causal_nothing_refused
LIKELY = "a mask for fewer than one token does not raise an error"
HINT = "What should create_causal_mask(0) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    return np.tri(max(seq_len, 0))


# %% causal_left_to_numpy
LIKELY = "seq_len is not checked: 0 gives an empty mask, and NumPy's error for a negative one does not name it"
HINT = "What does np.ones((0, 0)) give? What does the message of np.ones((-1, -1)) say?"


def create_causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len)))


# %% causal_zero_not_refused
LIKELY = "only a negative seq_len raises an error, and 0 gives an empty mask"
HINT = "What should create_causal_mask(0) do? Compare `< 0` with `< 1`."
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    if seq_len < 0:
        raise ValueError(f"seq_len is {seq_len}")
    return np.tri(seq_len)


# %% causal_error_without_number
LIKELY = "the message of the ValueError does not say what seq_len was"
HINT = "Put the number into the message. It is the first thing that a reader of the error wants to know."
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError("seq_len is too small")
    return np.tri(seq_len)


# %% causal_asserts
LIKELY = "fewer than one token raise an AssertionError, but it should be a ValueError"
HINT = "assert is for what you believe to be true. Which exception does the docstring name for a wrong argument?"
VALUES_RIGHT = True


def create_causal_mask(seq_len):
    assert seq_len >= 1, f"seq_len is {seq_len}"
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
LIKELY = "the padding is along the axis of the queries, not of the keys"
HINT = "The last axis of the scores belongs to the keys. Which axis of your mask has the size max_length?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, :, None]


# %% padding_axes_behind
LIKELY = "the mask has the shape (batch, max_length, 1, 1), but it should be (batch, 1, 1, max_length)"
HINT = "Print the shape of your mask for two sentences. Which axis of the scores belongs to the keys?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, :, None, None]


# %% padding_full_square
LIKELY = "the mask is repeated for every query, but an axis of size 1 does that by broadcasting"
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
HINT = "In this course, 1 means that a token may look. What should be at the first position of a sentence?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) >= lengths[:, None])[:, None, None]


# %% padding_one_too_many
LIKELY = "one position too many is allowed: the first of the padding"
HINT = "A sentence of 3 tokens has the positions 0, 1 and 2. Compare `<=` with `<`."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) <= lengths[:, None])[:, None, None]


# %% padding_one_too_few
LIKELY = "the last token of each sentence is blocked"
HINT = "A sentence of 3 tokens has the positions 0, 1 and 2. How many ones are in your row?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None] - 1)[:, None, None]


# %% padding_in_front
LIKELY = "the padding is before the tokens, not after them"
HINT = "Print the mask of lengths [1] in 3 positions. It should be 1 0 0."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) >= max_length - lengths[:, None])[:, None, None]


# %% padding_width_of_longest
LIKELY = "the mask is as wide as the longest sentence, but its width should be max_length"
HINT = "Try lengths [1, 2] in 5 positions. How many positions should the mask have?"


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
LIKELY = "the sentences are sorted by length, so they are no longer in the order of the input"
HINT = "Try lengths [1, 3, 2]. Which row belongs to which sentence?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < np.sort(lengths)[::-1, None])[:, None, None]


# %% padding_zero_means_full
LIKELY = "a length of 0 is treated as `not given`, so the complete sentence is allowed"
HINT = "Try lengths [0, 2]. What is `0 or 5` in Python?"


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.array([length or max_length for length in lengths])
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_list
LIKELY = "the mask is a nested list, not an array"
HINT = "What is type(create_padding_mask([1], 2))? Wrap your result in np.array."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    return [[[[int(j < length) for j in range(max_length)]]] for length in lengths]


# %% padding_sorts_the_lengths_given
LIKELY = "the caller's list of lengths is changed, for example by sorting it"
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
LIKELY = "a length above max_length is silently cut to max_length"
HINT = "What should create_padding_mask([9], 5) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0:
            raise ValueError(f"length {length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_negative_not_refused
LIKELY = "a length below 0 is silently treated as 0"
HINT = "What should create_padding_mask([-1], 5) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length > max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_counts_from_the_end
LIKELY = "no length raises an error, and a length of -1 is used as an index: all positions but the last"
HINT = "What does row[:length] = 1 do when length is -1? Which exception does the docstring name?"
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, 1, max_length))
    for b, length in enumerate(lengths):
        mask[b, 0, 0, :length] = 1
    return mask


# %% padding_nothing_refused
LIKELY = "no length raises an error: one above max_length counts as max_length, one below 0 as 0"
HINT = "What should happen with a sentence of 9 tokens in 5 positions? And with one of -1 tokens?"


def create_padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None, :]


# %% padding_rows_of_lists
LIKELY = "no length is checked: [1] * length is longer than max_length if the length is, and empty if it is below 0"
HINT = "What is [1] * 9 + [0] * (5 - 9)? What is [1] * -1? Which exception does the docstring name?"
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    rows = [[1] * length + [0] * (max_length - length) for length in lengths]
    return np.array(rows)[:, None, None, :]


# %% padding_only_first_checked
LIKELY = "only the first length is checked"
HINT = "Try lengths [2, 9] in 5 positions. Which of the two do you check?"
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    if not 0 <= lengths[0] <= max_length:
        raise ValueError(f"length {lengths[0]}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_error_without_length
LIKELY = "the message of the ValueError contains max_length, but not the length that does not fit"
HINT = "Which number would a reader of your message look for? Put the length into the message, too."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    if min(lengths) < 0 or max(lengths) > max_length:
        raise ValueError(f"lengths must lie between 0 and {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_error_without_max_length
LIKELY = "the message of the ValueError contains the length, but not max_length"
HINT = "Two numbers disagree. Put both into the message."
VALUES_RIGHT = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"the length {length} is impossible")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_error_without_numbers
LIKELY = "the message of the ValueError contains neither the length nor max_length"
HINT = "Imagine that you read your message in a long log. Which two numbers do you want to see?"


def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    if (lengths > max_length).any() or (lengths < 0).any():
        raise ValueError("a sentence does not fit")
    return (np.arange(max_length) < lengths[:, None])[:, None, None, :]


# %% padding_full_refused
LIKELY = "a sentence of length max_length raises an error"
HINT = "What should create_padding_mask([5], 5) return? Compare `<` with `<=`."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length < max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% padding_empty_refused
LIKELY = "an empty sentence raises an error, but a length of 0 is fine"
HINT = "What should create_padding_mask([0, 2], 3) return? Compare `< 1` with `< 0`."


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 1 <= length <= max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    lengths = np.asarray(lengths)
    return (np.arange(max_length) < lengths[:, None])[:, None, None]


# %% combines_with_or
LIKELY = "the masks are combined with OR: an entry is allowed if one mask allows it"
HINT = "Block everything with one of two masks. Can the other mask allow it again?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.any(np.broadcast_arrays(*masks), axis=0)


# %% combines_with_xor
LIKELY = "an entry that both masks allow is blocked in the result"
HINT = "Combine a mask with itself. The result should be the same mask."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    result = masks[0]
    for mask in masks[1:]:
        result = result ^ mask
    return result


# %% combines_by_sum
LIKELY = "the masks are added up, so each entry counts the masks that allow it"
HINT = "Combine two masks of ones. Which two values can a mask contain?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.sum(np.broadcast_arrays(*masks), axis=0)


# %% combines_only_two
LIKELY = "only the first two masks are used"
HINT = "Combine three masks, and let only the last one block something. Is it blocked in the result?"


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
LIKELY = "the last mask overwrites the masks before it"
HINT = "Let the first of two masks block something. Is it still blocked in the result?"


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    return np.broadcast_to(masks[-1], shape)


# %% combined_mask_inverted
LIKELY = "the result has 1 where something is blocked"
HINT = "Combine one mask with nothing else. The result should be the same mask."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return ~np.all(np.broadcast_arrays(*masks), axis=0)


# %% combined_floats_ignored
LIKELY = "a mask of floats is left out"
HINT = "Combine a float mask of zeros with a mask of ones. What is the result?"


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
HINT = "What is the type of your result? Wrap it in np.array."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.all(np.broadcast_arrays(*masks), axis=0).tolist()


# %% combined_in_place
LIKELY = "the caller's first mask is overwritten with the result"
HINT = "Print the first mask before and after the call. What does `result *= mask` do to the caller's array?"
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


# %% combined_into_the_first
LIKELY = "`result *= mask` writes into the caller's first mask, and the result cannot have another shape or dtype"
HINT = "Combine a mask (3,) with a mask (3, 3). What shape must the result have? See result = result * mask."


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    result = masks[0]
    for mask in masks[1:]:
        result *= mask
    return result


# %% combined_with_bits
LIKELY = "`&` works for masks of bool and of integers, but a mask of floats raises an error"
HINT = "Try np.array([1.0]) & np.array([1.0]). Convert each mask to bool first."
RAISES = True


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks")
    result = masks[0]
    for mask in masks[1:]:
        result = result & mask
    return result


# %% combined_remembers
LIKELY = "masks of earlier calls are still in the list"
HINT = "Combine a mask of zeros with itself, and then a mask of ones with itself. What is the second result?"
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
LIKELY = "a call without a mask does not raise an error"
HINT = "What should combine_masks() do? Read its docstring."
VALUES_RIGHT = True


def combine_masks(*masks):
    result = np.array(True)
    for mask in masks:
        result = result & (np.asarray(mask) != 0)
    return result


# %% nothing_combined_is_a_type_error
LIKELY = "a call without a mask raises an error, but not a ValueError"
HINT = "Which exception does the docstring of combine_masks name?"
VALUES_RIGHT = True


def combine_masks(*masks):
    if not masks:
        raise TypeError("combine_masks needs at least one mask")
    masks = [np.asarray(mask) != 0 for mask in masks]
    return np.all(np.broadcast_arrays(*masks), axis=0)


# %% nothing_combined_is_an_index_error
LIKELY = "a call without a mask raises an IndexError, because there is no masks[0], but it should be a ValueError"
HINT = "Which exception does the docstring of combine_masks name? Ask whether there are masks before you take one."
VALUES_RIGHT = True


def combine_masks(*masks):
    result = np.asarray(masks[0]) != 0
    for mask in masks[1:]:
        result = result & (np.asarray(mask) != 0)
    return result


# %% nothing_to_reduce
LIKELY = "a call without a mask raises the TypeError of functools.reduce, but it should be a ValueError"
HINT = "Which exception does the docstring of combine_masks name? Ask whether there are masks before you reduce them."
VALUES_RIGHT = True


def combine_masks(*masks):
    from functools import reduce

    return reduce(np.logical_and, [np.asarray(mask) != 0 for mask in masks])


# %% mask_after_softmax
LIKELY = "the weights are masked after the softmax, so they do not sum to 1"
HINT = "Add up a row of your weights. The softmax should be over the allowed entries only."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed, weights, 0)


# %% mask_multiplies_scores
LIKELY = "a blocked score is multiplied by 0, but e to the 0 is 1, not 0"
HINT = "What weight does an entry with a score of 0 get? What score would give it a weight of 0?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = scores * allowed
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% adds_minus_1e9
LIKELY = (
    "-1e9 is added to blocked scores: a fully blocked row keeps its weights, and low scores lose against blocked ones"
)
HINT = "Block a complete row. Adding the same number to all its scores changes nothing. What should such a row be?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = scores + (1 - allowed.astype(scores.dtype)) * scores.dtype.type(-1e9)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% fills_minus_1e9
LIKELY = "-1e9 is put in place of blocked scores: a fully blocked row gets equal weights, and lower scores lose"
HINT = "Block a complete row. What is the softmax of three equal numbers? What should it be here?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e9)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% blocked_row_uniform
LIKELY = "a fully blocked row gives every entry the same weight"
HINT = "What is the softmax of three equal numbers, such as the lowest float? What should a fully blocked row be?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, scores, np.finfo(scores.dtype).min)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% blocked_row_nan
LIKELY = "a fully blocked row gives NaN: minus infinity minus minus infinity, or 0 divided by 0"
HINT = "Block a complete row. What is the largest of its scores, and what do you subtract it from?"


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
HINT = "Block a score of 1e10. What is it after you add -1e9? Only minus infinity is lower than everything."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = scores - scores.dtype.type(1e9) * (1 - allowed.astype(scores.dtype))
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_minus_1e9_rows_cleared
LIKELY = "-1e9 is put in place of blocked scores, but allowed scores may be even lower"
HINT = "Allow a score of -3e9 and block the rest. Which is larger, the allowed score or -1e9? Try -np.inf."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -1e9)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_minus_hundred
LIKELY = "-100 is put in place of blocked scores, but allowed scores may be even lower"
HINT = (
    "Allow scores near -900 and block the rest. Which entries get the weights? Which number is lower than all others?"
)


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -100.0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% fills_smallest_score
LIKELY = "the smallest score is put in place of blocked ones, so they still get some weight"
HINT = "Look at the weights of blocked entries. They should be 0. Which number is lower than all others?"


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
    "Allow scores near -900 and block the rest. Which number do you subtract? It should be the largest *allowed* score."
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
LIKELY = "the largest score is taken over all entries, so a high blocked score makes the other weights underflow to 0"
HINT = "Block a score of 5000 and allow scores of 1 and 2. Which score should you subtract from these two?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.where(allowed, np.exp(scores - scores.max(axis=axis, keepdims=True)), 0)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% exponentials_times_mask
LIKELY = "the exponential of a high blocked score is infinite, and infinity times 0 is NaN"
HINT = "Block a score of 5000 and allow 1 and 2. What is np.exp(4998) * 0? Mask the scores before the exponential."


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
HINT = "What is 0 * -np.inf? Do not multiply: choose between two values with np.where."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    with np.errstate(invalid="ignore"):
        kept = scores + (1 - allowed.astype(scores.dtype)) * -np.inf
        return np.exp(kept) / np.exp(kept).sum(axis=axis, keepdims=True)


# %% no_maximum_subtracted
LIKELY = "the largest score is not subtracted, so the exponentials overflow"
HINT = "Try scores of 5000 and of -5000. How did you avoid this in module 01?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(np.where(allowed, scores, -np.inf))
        total = exps.sum(axis=axis, keepdims=True)
        return exps / np.where(total == 0, 1, total)


# %% global_maximum
LIKELY = "the largest score of the whole array is subtracted, so rows of low scores underflow to 0"
HINT = "Try one row near 800 and one near -800. Each slice needs its own largest score."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.exp(np.where(allowed, scores - scores.max(where=allowed, initial=-1e300), -np.inf))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% softmax_true_is_blocked
LIKELY = "the mask is read the wrong way round: True is treated as blocked, as in nn.MultiheadAttention"
HINT = "With the causal mask of the lesson, should cat see the tokens before it or those after it?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) == 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    return np.where(allowed.any(axis=axis, keepdims=True), weights, 0)


# %% true_is_blocked_by_adding
LIKELY = "the mask is read the wrong way round: mask * -1e9 lowers the scores that are allowed"
HINT = "With the causal mask of the lesson, should cat see the tokens before it or those after it?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = scores + (np.asarray(mask) * -1e9).astype(scores.dtype)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% true_is_blocked_by_filling
LIKELY = "the mask is read the wrong way round: -1e9 is put in place of the scores that are allowed"
HINT = "np.where(condition, a, b) takes a where the condition holds. Which scores should become -1e9?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, -1e9, scores)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. Does the result change?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% axis_ignored
LIKELY = "the weights always sum to 1 along the last axis; the argument `axis` is not used"
HINT = "Call it with axis=0, then add up your weights along axis 0. Are all the sums 1?"


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
LIKELY = "the weights sum to 1 along the second-to-last axis: over the queries, not over the keys"
HINT = "Compare weights.sum(axis=0) with weights.sum(axis=1). Each query divides its attention among the keys."


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


# %% softmax_over_axis_one
LIKELY = "the weights sum to 1 along axis 1, whatever `axis` is; in a batch of tables, these are the queries"
HINT = "What does the argument `axis` say? Where do you use it?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, scores, -np.inf)
    largest = kept.max(axis=1, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=1, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% softmax_over_everything
LIKELY = "all weights of the array together sum to 1"
HINT = "What is the sum of all your weights for three rows? Each slice should sum to 1."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf if allowed.any() else 0)
    exps = np.exp(kept - kept.max())
    weights = exps / exps.sum()
    return np.where(allowed, weights, 0)


# %% keepdims_forgotten
LIKELY = "the sums lose their axis (`keepdims` is missing), so a square array is divided along the wrong axis"
HINT = "What is the shape of exps.sum(axis=axis) for scores (4, 4)? Along which axis does it line up? See keepdims."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=axis)
    return exps / np.where(total == 0, 1, total)


# %% keepdims_forgotten_twice
LIKELY = "the maximum and the sum lose their axis (`keepdims` is missing), so they are used along the wrong axis"
HINT = "What is the shape of x.max(axis=axis) for scores (4, 4)? Along which axis does it line up? See keepdims."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, scores, -1e9)
    exps = np.exp(kept - kept.max(axis=axis))
    return exps / exps.sum(axis=axis)


# %% blocked_slices_of_last_axis
LIKELY = "the code looks for fully blocked slices along the last axis; the argument `axis` is not used"
HINT = "Block a complete column and call it with axis=0. What is 0 divided by 0?"


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
LIKELY = "the code looks for fully blocked slices in the mask before it has the shape of the scores"
HINT = "Try scores (3, 4), a mask of 4 entries with a zero, and axis=0. Broadcast the mask first."


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
LIKELY = "zeros are returned only when the complete mask is 0; a single blocked row is NaN"
HINT = "Block one row of three. You must check each slice separately."


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
LIKELY = "one fully blocked slice makes the complete result 0"
HINT = "Block one row of three. What should the other two rows contain?"


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
LIKELY = "a small number is added to every sum, so no row sums to 1"
HINT = "Add up a row and print all decimals. Change the sum only where it is 0."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    top = np.where(allowed.any(axis=axis, keepdims=True), kept.max(axis=axis, keepdims=True), 0)
    exps = np.exp(kept - top)
    return exps / (exps.sum(axis=axis, keepdims=True) + 1e-9)


# %% weights_rounded
LIKELY = "the weights are rounded to four decimals"
HINT = "The lesson prints four decimals. Should the numbers that you go on computing with be rounded, too?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = np.where(np.asarray(mask) != 0, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=axis, keepdims=True)
    return np.round(exps / np.where(total == 0, 1, total), 4)


# %% renormalised_after_softmax
LIKELY = "the softmax is over all entries: a high blocked score makes the allowed weights 0 before you divide again"
HINT = "Block a score of 5000 and allow scores of 1 and 2. What are the weights before you divide again?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = exps / exps.sum(axis=axis, keepdims=True)
    weights = weights * allowed
    return weights / np.maximum(weights.sum(axis=axis, keepdims=True), 1e-12)


# %% renormalised_without_guard
LIKELY = "after masking, you divide by the sum, which is 0 for a fully blocked row, or where a high blocked score wins"
HINT = "Block a complete row. What is 0 divided by 0? Then block a score of 5000 and allow scores of 1 and 2."


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True)) * (np.asarray(mask) != 0)
    with np.errstate(invalid="ignore"):
        return exps / exps.sum(axis=axis, keepdims=True)


# %% renormalised_along_last_axis
LIKELY = "after masking, the weights are always divided by their sums along the last axis; `axis` is not used"
HINT = "Call it with axis=0 and a mask, then add up your weights along axis 0. Are all the sums 1?"


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
LIKELY = "rows and columns of a square mask have swapped places"
HINT = "With a causal mask, the first row of weights is 1 0 0 0 0. Is yours?"


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
LIKELY = "every sentence of the batch gets the mask of the first"
HINT = "Give each sentence its own padding. Which mask do you use for the second sentence?"


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
LIKELY = "`~mask` works only for a boolean mask: ~1 is -2 and ~0 is -1, and both count as true"
HINT = "What is ~np.array([0, 1])? Convert the mask to bool before you invert it."


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


# %% tilde_fills_minus_1e9
LIKELY = "`~mask` works only for a boolean mask: of integers, it is never 0, so every score becomes -1e9"
HINT = "What is ~np.array([0, 1])? Convert the mask to bool before you invert it."


def masked_softmax(scores, mask, axis=-1):
    kept = np.where(~mask, -1e9, scores)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% mask_as_an_index
LIKELY = "scores[mask == 0] needs a mask of the shape of the scores; a smaller mask, which should broadcast, raises"
HINT = "Try scores (2, 3) and a mask of 3 entries. np.where takes every mask that broadcasts."
RAISES = True


def masked_softmax(scores, mask, axis=-1):
    kept = 1.0 * np.asarray(scores)
    kept[mask == 0] = -np.inf
    largest = kept.max(axis=axis, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% everything_blocked
LIKELY = "every weight is 0, as if the mask allowed nothing (`mask is True` does that: it is false for every array)"
HINT = "Print the mask in your code just before you use it. Which entries count as allowed?"


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
LIKELY = "the mask is added to the scores, as PyTorch does with masks of floats, so a blocked score does not change"
HINT = "Look at the weight of a blocked entry. It should be 0. What happens when you add 1 or 0 to a score?"


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    kept = scores + np.asarray(mask).astype(scores.dtype)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% hard_maximum
LIKELY = "all the weight goes to the largest allowed score"
HINT = "Softmax is soft: the weights of the lesson are all above 0. Which of your steps picks only one entry?"


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
LIKELY = "every allowed entry gets the same weight, whatever its score is"
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
LIKELY = "the weights are stored in an array of the scores' dtype; for integers, they are cut to whole numbers"
HINT = "What happens to 0.25 when you store it in an array of integers?"


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
LIKELY = "everything is computed in float32, so float64 scores lose half of their digits"
HINT = "Compare your weights for float64 scores with the true ones. Look at ten decimals."


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
HINT = "What is the type of your result? Wrap it in np.array."


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
LIKELY = "the caller's scores are overwritten, for example with minus infinity"
HINT = "Print the scores before and after the call. What does scores[...] = do to the caller's array?"
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


# %% scores_shifted_in_place
LIKELY = "the maximum is subtracted in the caller's scores"
HINT = "Print the scores before and after the call. What is the difference between x -= m and x = x - m?"
VALUES_RIGHT = True


def masked_softmax(scores, mask, axis=-1):
    kept = np.where(np.asarray(mask) != 0, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0, largest).astype(scores.dtype)
    scores -= largest
    exps = np.where(np.asarray(mask) != 0, np.exp(np.where(mask, scores, 0.0)), 0.0).astype((1.0 * scores).dtype)
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


# %% softmax_modifies_mask
LIKELY = "the caller's mask is changed"
HINT = "Print the mask before and after the call. Which line of your code writes into it?"
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
HINT = "Which of your steps turns float32 into float64? np.zeros, np.ones and np.float64 numbers all do."
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
HINT = "What is the dtype of a float32 array times a float64 array? Convert the mask to bool first."
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
LIKELY = "this is the number of links that the causal mask allows, not the number it blocks"
HINT = "Count in the table of the lesson: 10 of 25 links are blocked. What does your formula give for 5 tokens?"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2098176


# %% reflect_half_of_all
LIKELY = "this is half of all links, but the links on the diagonal are all allowed"
HINT = "Count in the table of the lesson: 10 of 25 links are blocked. Is that half?"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2097152


# %% reflect_all_links
LIKELY = "this is the number of all links, allowed and blocked"
HINT = "Count in the table of the lesson: 10 of 25 links are blocked. Which 10?"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 4194304


# %% causal_as_a_product
LIKELY = "the triangle is made by multiplying two matrices: n³ multiplications for n² entries"
HINT = "How much work does one entry of the mask need? How much does a product of two (n, n) matrices need?"
COSTLY = True


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, not {seq_len}")
    ones = np.tri(seq_len)
    return (ones @ np.eye(seq_len)) > 0


# %% padding_by_counting
LIKELY = "for every position, all positions before it are counted, so the work grows with the square of max_length"
HINT = "To know whether position 7 has a token, you need only the length of the sentence."
COSTLY = True


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"length {length}, max_length {max_length}")
    rows = [[int(len(list(range(j))) < length) for j in range(max_length)] for length in lengths]
    return np.array(rows)[:, None, None, :]


# %% combine_one_entry_against_all
LIKELY = "for every entry of the result, the code goes through every complete mask again"
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
LIKELY = "every score is compared with every other score of its slice: n² exponentials where n are enough"
HINT = "How many numbers are in your largest array for a row of 1000 scores?"
COSTLY = True


def masked_softmax(scores, mask, axis=-1):
    x = np.asarray(scores)
    x = np.moveaxis(x if x.dtype.kind == "f" else x.astype(np.float64), axis, -1)
    allowed = np.moveaxis(np.broadcast_to(np.asarray(mask) != 0, np.shape(scores)), axis, -1)
    pairs = np.where(allowed[..., None, :], x[..., None, :], -np.inf)
    pairs = np.exp(np.minimum(pairs - np.where(allowed, x, 0)[..., :, None], 700).astype(x.dtype))
    return np.moveaxis(np.where(allowed, 1 / np.where(allowed, pairs.sum(axis=-1), 1), 0).astype(x.dtype), -1, axis)

"""Mistakes in masks and in their softmax, as people write them."""

import numpy as np

# %% causal_nothing_checked
# np.tril(np.ones(...)) and nothing else: seq_len is not refused. The line of every blog.
# Expected: causal_left_to_numpy


def create_causal_mask(seq_len):
    mask = np.tril(np.ones((seq_len, seq_len)))
    return mask


# %% causal_tri_unchecked
# np.tri, which takes 0 and negative numbers without a word.
# Expected: causal_nothing_refused


def create_causal_mask(seq_len):
    return np.tri(seq_len, dtype=int)


# %% causal_arange_unchecked
# Two ranges compared, from the JAX world. Nothing is refused.
# Expected: causal_nothing_refused


def create_causal_mask(seq_len):
    i = np.arange(seq_len)[:, None]
    j = np.arange(seq_len)[None, :]
    return i >= j


# %% causal_loops_unchecked
# Two loops over np.zeros. Nothing is refused.
# Expected: causal_left_to_numpy


def create_causal_mask(seq_len):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(i + 1):
            mask[i][j] = 1
    return mask


# %% causal_assert
# assert in place of raise: an AssertionError is no ValueError.
# Expected: causal_asserts


def create_causal_mask(seq_len):
    assert seq_len >= 1, f"seq_len must be at least 1, got {seq_len}"
    return np.tril(np.ones((seq_len, seq_len), dtype=bool))


# %% causal_error_without_number
# The message is a plain sentence.
# Expected: causal_error_without_number


def create_causal_mask(seq_len):
    if seq_len <= 0:
        raise ValueError("seq_len must be positive")
    return np.tril(np.ones((seq_len, seq_len)))


# %% causal_triu_1
# np.triu(..., k=1) as in The Annotated Transformer, without the comparison with 0 after it.
# Expected: causal_true_is_blocked


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"bad seq_len {seq_len}")
    return np.triu(np.ones((seq_len, seq_len)), k=1).astype("uint8")


# %% causal_triu_1_unchecked
# The same, and nothing is refused.
# Expected: causal_true_is_blocked


def create_causal_mask(seq_len):
    return np.triu(np.ones((seq_len, seq_len)), k=1)


# %% causal_triu_0
# np.triu without k.
# Expected: causal_upper_triangle


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    return np.triu(np.ones((seq_len, seq_len), dtype=int))


# %% causal_one_minus_triu
# 1 - np.triu without k=1: a token does not see itself.
# Expected: causal_diagonal_excluded


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    return 1 - np.triu(np.ones((seq_len, seq_len)))


# %% causal_triu_equals_zero
# np.triu(...) == 0 without k=1: the diagonal is blocked.
# Expected: causal_diagonal_excluded


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    mask = np.triu(np.ones((seq_len, seq_len)))
    return mask == 0


# %% causal_loop_off_by_one
# range(i) in place of range(i + 1).
# Expected: causal_diagonal_excluded


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    mask = np.zeros((seq_len, seq_len), dtype=bool)
    for i in range(seq_len):
        mask[i, :i] = True
    return mask


# %% causal_additive
# An additive mask of 0 and -inf, as PyTorch's generate_square_subsequent_mask.
# Expected: causal_additive


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    mask = np.zeros((seq_len, seq_len))
    mask[np.triu_indices(seq_len, 1)] = float("-inf")
    return mask


# %% causal_additive_1e9
# An additive mask of 0 and -1e9.
# Expected: causal_additive_1e9


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    return np.triu(np.ones((seq_len, seq_len)), k=1) * -1e9


# %% causal_tilde
# ~np.triu(...) of floats turned to integers: -1 and -2.
# Expected: causal_tilde_of_integers


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    return ~np.triu(np.ones((seq_len, seq_len), dtype=int), k=1)


# %% causal_four_dimensions
# [None, None] so that it broadcasts over batch and heads.
# Expected: causal_extra_axes


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    return np.tril(np.ones((1, 1, seq_len, seq_len)))


# %% causal_three_dimensions
# A batch axis of 1, as subsequent_mask has it.
# Expected: causal_one_extra_axis


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    attn_shape = (1, seq_len, seq_len)
    return np.triu(np.ones(attn_shape), k=1) == 0


# %% padding_unchecked
# arange < lengths and the axes; nothing is refused.
# Expected: padding_nothing_refused


def create_padding_mask(lengths, max_length):
    lengths = np.array(lengths).reshape(-1, 1)
    mask = np.arange(max_length).reshape(1, -1) < lengths
    return mask.reshape(len(lengths), 1, 1, max_length).astype(np.float32)


# %% padding_unchecked_loop
# A loop with a slice: a negative length counts from the end.
# Expected: padding_counts_from_the_end


def create_padding_mask(lengths, max_length):
    batch = len(lengths)
    mask = np.zeros((batch, 1, 1, max_length))
    for i in range(batch):
        mask[i, :, :, : lengths[i]] = 1
    return mask


# %% padding_unchecked_lists
# [1] * length + [0] * (max_length - length): lengths that are too long give ragged rows, which raise.
# Expected: padding_rows_of_lists


def create_padding_mask(lengths, max_length):
    rows = [[1] * n + [0] * (max_length - n) for n in lengths]
    return np.array(rows)[:, np.newaxis, np.newaxis, :]


# %% padding_less_or_equal
# <= in place of <.
# Expected: padding_one_too_many


def create_padding_mask(lengths, max_length):
    for n in lengths:
        if n > max_length or n < 0:
            raise ValueError(f"length {n} does not fit into {max_length}")
    return np.array([[[[int(j <= n) for j in range(max_length)]]] for n in lengths])


# %% padding_less_or_equal_unchecked
# <= in place of <, and nothing is refused.
# Expected: padding_one_too_many


def create_padding_mask(lengths, max_length):
    positions = np.arange(max_length)
    mask = positions[None, :] <= np.asarray(lengths)[:, None]
    return mask[:, None, None, :]


# %% padding_two_dimensions
# (batch, max_length), the axes are left to the caller.
# Expected: padding_two_dimensions


def create_padding_mask(lengths, max_length):
    for n in lengths:
        if n < 0 or n > max_length:
            raise ValueError(f"{n} is not in 0..{max_length}")
    return np.array([[1 if j < n else 0 for j in range(max_length)] for n in lengths])


# %% padding_two_dimensions_unchecked
# The same, and nothing is refused.
# Expected: padding_two_dimensions


def create_padding_mask(lengths, max_length):
    return np.arange(max_length)[None, :] < np.array(lengths)[:, None]


# %% padding_three_dimensions
# One axis only: [:, None, :].
# Expected: padding_three_dimensions


def create_padding_mask(lengths, max_length):
    for n in lengths:
        if not 0 <= n <= max_length:
            raise ValueError(f"length {n}, but max_length {max_length}")
    mask = np.arange(max_length) < np.array(lengths)[:, None]
    return mask[:, None, :]


# %% padding_axes_last
# [:, None, :, None] or [..., None, None]: the axes are on the wrong side.
# Expected: padding_axes_behind


def create_padding_mask(lengths, max_length):
    for n in lengths:
        if not 0 <= n <= max_length:
            raise ValueError(f"length {n}, but max_length {max_length}")
    mask = np.arange(max_length) < np.array(lengths)[:, None]
    return mask[..., None, None]


# %% padding_inverted
# 1 at the padding, as key_padding_mask in PyTorch.
# Expected: padding_true_is_blocked


def create_padding_mask(lengths, max_length):
    for n in lengths:
        if not 0 <= n <= max_length:
            raise ValueError(f"length {n}, but max_length {max_length}")
    mask = np.ones((len(lengths), 1, 1, max_length))
    for b, n in enumerate(lengths):
        mask[b, 0, 0, :n] = 0
    return mask


# %% padding_inverted_unchecked
# The same, and nothing is refused.
# Expected: padding_true_is_blocked


def create_padding_mask(lengths, max_length):
    mask = np.arange(max_length)[None, :] >= np.array(lengths)[:, None]
    return mask[:, None, None, :]


# %% padding_message_without_numbers
# A sentence without numbers.
# Expected: padding_error_without_numbers


def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    if np.any(lengths > max_length) or np.any(lengths < 0):
        raise ValueError("lengths must be between 0 and max_length")
    return (np.arange(max_length)[None, :] < lengths[:, None])[:, None, None, :]


# %% padding_too_long_only
# Only lengths above max_length are refused.
# Expected: padding_negative_not_refused


def create_padding_mask(lengths, max_length):
    if max(lengths) > max_length:
        raise ValueError(f"length {max(lengths)} is above max_length {max_length}")
    return (np.arange(max_length)[None, :] < np.asarray(lengths)[:, None])[:, None, None, :]


# %% padding_of_a_list
# lengths[:, None] of a list raises: the argument is taken for an array.
# Expected: no name: the exception says it


def create_padding_mask(lengths, max_length):
    mask = np.arange(max_length) < lengths[:, None]
    return mask[:, None, None, :]


# %% combine_or
# | in place of &, as for masks where 1 means blocked.
# Expected: combines_with_or


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    out = masks[0].astype(bool)
    for m in masks[1:]:
        out = out | m.astype(bool)
    return out


# %% combine_maximum
# np.maximum, which is the same.
# Expected: combines_with_or


def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError("need at least one mask")
    out = masks[0]
    for m in masks[1:]:
        out = np.maximum(out, m)
    return out


# %% combine_plus
# The masks are added up.
# Expected: combines_by_sum


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    out = np.zeros(())
    for m in masks:
        out = out + m
    return out


# %% combine_sum_above_zero
# The sum, and then > 0: an OR.
# Expected: combines_with_or


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    return sum(np.asarray(m).astype(int) for m in masks) > 0


# %% combine_in_place
# out &= mask or out *= mask: the first mask changes, and a larger mask does not fit.
# Expected: combined_into_the_first or combined_in_place


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    out = masks[0]
    for m in masks[1:]:
        out *= m
    return out


# %% combine_logical_and_of_two
# np.logical_and(*masks): a third mask is taken as `out`.
# Expected: combines_only_two


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    if len(masks) == 1:
        return masks[0]
    return np.logical_and(masks[0], masks[1])


# %% combine_unchecked
# functools.reduce without a check: no mask is a TypeError.
# Expected: nothing_to_reduce


def combine_masks(*masks):
    from functools import reduce

    return reduce(lambda a, b: np.logical_and(a, b), masks).astype(int)


# %% combine_index_error
# masks[0] without a check: an IndexError.
# Expected: nothing_combined_is_an_index_error


def combine_masks(*masks):
    result = masks[0].astype(bool)
    for mask in masks[1:]:
        result = np.logical_and(result, mask)
    return result


# %% combine_returns_none
# No mask returns None.
# Expected: nothing_combined_is_allowed


def combine_masks(*masks):
    result = None
    for mask in masks:
        result = mask if result is None else result * mask
    return result


# %% combine_stack
# np.stack of the masks: shapes that differ raise.
# Expected: no name: the exception says it


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    return np.all(np.stack(masks), axis=0)


# %% combine_bitwise_and
# & of masks of floats raises.
# Expected: combined_with_bits


def combine_masks(*masks):
    if not masks:
        raise ValueError("no masks given")
    result = masks[0]
    for mask in masks[1:]:
        result = result & mask
    return result


# %% softmax_minus_1e9
# np.where(mask == 0, -1e9, scores) and a stable softmax.
# Expected: fills_minus_1e9


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask == 0, -1e9, scores)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_minus_1e9_no_maximum
# The same without a maximum: 0/0 in a blocked row, infinity for large scores.
# Expected: no_maximum_subtracted or blocked_row_nan


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -1e9)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


# %% softmax_finfo_min
# np.finfo(scores.dtype).min as the fill.
# Expected: blocked_row_uniform


def masked_softmax(scores, mask, axis=-1):
    scores = scores * 1.0
    x = np.where(np.asarray(mask).astype(bool), scores, np.finfo(scores.dtype).min)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


# %% softmax_minus_ten_thousand
# -1e4 as the fill, as for half precision.
# Expected: no name: a fill of another size, with consequences of its own


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask == 0, -1e4, scores)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_minus_inf
# -np.inf without a guard: NaN in a blocked row.
# Expected: blocked_row_nan


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask == 0, -np.inf, scores)
    x = x - np.max(x, axis=axis, keepdims=True)
    p = np.exp(x)
    return p / p.sum(axis=axis, keepdims=True)


# %% softmax_minus_inf_nan_to_num_rounded
# -np.inf, then nan_to_num: right, but the weights are rounded to four decimals.
# Expected: weights_rounded


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask == 0, -np.inf, scores)
    with np.errstate(all="ignore"):
        x = x - np.max(x, axis=axis, keepdims=True)
        p = np.exp(x)
        p = np.nan_to_num(p / p.sum(axis=axis, keepdims=True))
    return np.round(p, 4)


# %% softmax_whole_array
# e / e.sum(), as for a vector.
# Expected: softmax_over_everything


def masked_softmax(scores, mask, axis=-1):
    x = np.where(np.asarray(mask) == 1, scores, -np.inf)
    e = np.exp(x - np.max(x))
    return e / e.sum()


# %% softmax_whole_array_no_maximum
# The same without a maximum.
# Expected: softmax_over_everything or no_maximum_subtracted


def masked_softmax(scores, mask, axis=-1):
    e = np.exp(scores) * mask
    return e / np.sum(e)


# %% softmax_axis_written_in
# axis=-1 in both calls: the argument is not used.
# Expected: axis_ignored


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -np.inf)
    m = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isinf(m), 0, m))
    s = e.sum(axis=-1, keepdims=True)
    return np.divide(e, s, out=np.zeros_like(e), where=s > 0)


# %% softmax_axis_one_written_in
# axis=1 in both calls: one row raises, batches are wrong.
# Expected: softmax_over_axis_one


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -np.inf)
    m = x.max(axis=1, keepdims=True)
    e = np.exp(x - np.where(np.isinf(m), 0, m))
    s = e.sum(axis=1, keepdims=True)
    return np.divide(e, s, out=np.zeros_like(e), where=s > 0)


# %% softmax_mask_after
# softmax, then * mask.
# Expected: mask_after_softmax


def masked_softmax(scores, mask, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    p = e / np.sum(e, axis=axis, keepdims=True)
    return p * (mask != 0)


# %% softmax_mask_after_renormalised
# softmax, * mask, divided by the sum again; nothing for blocked rows.
# Expected: renormalised_without_guard or renormalised_after_softmax


def masked_softmax(scores, mask, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    p = e / np.sum(e, axis=axis, keepdims=True)
    p = p * (mask != 0)
    return p / p.sum(axis=axis, keepdims=True)


# %% softmax_exponentials_masked
# exp(scores - max) * mask, then divided; nothing for blocked rows.
# Expected: renormalised_without_guard or blocked_maximum


def masked_softmax(scores, mask, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True)) * (mask > 0)
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_mask_added
# scores + mask.
# Expected: mask_as_weight


def masked_softmax(scores, mask, axis=-1):
    x = scores + mask.astype(scores.dtype)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_inverted_added
# scores + mask * -1e9, as in TensorFlow's tutorial.
# Expected: true_is_blocked_by_adding or softmax_true_is_blocked


def masked_softmax(scores, mask, axis=-1):
    x = scores + (mask * -1e9).astype(np.float32 if scores.dtype == np.float32 else np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_inverted_fill
# np.where(mask, -1e9, scores).
# Expected: true_is_blocked_by_filling or softmax_true_is_blocked


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, -1e9, scores)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_tilde
# np.where(~mask, -np.inf, scores) for a boolean mask only: integers are all blocked, floats raise.
# Expected: tilde_on_integers


def masked_softmax(scores, mask, axis=-1):
    x = np.where(~mask, -np.inf, scores)
    m = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isinf(m), 0, m))
    s = e.sum(axis=axis, keepdims=True)
    return e / np.where(s == 0, 1, s)


# %% softmax_tilde_minus_1e9
# The same with -1e9.
# Expected: tilde_fills_minus_1e9


def masked_softmax(scores, mask, axis=-1):
    x = np.where(~mask, -1e9, scores)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_index
# x[mask == 0] = -np.inf after a copy: a mask that broadcasts raises.
# Expected: mask_as_an_index


def masked_softmax(scores, mask, axis=-1):
    x = scores * 1.0
    x[mask == 0] = -np.inf
    m = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isinf(m), 0, m))
    s = e.sum(axis=axis, keepdims=True)
    return e / np.where(s == 0, 1, s)


# %% softmax_scores_changed
# scores[...] = -1e9 in the caller's array; mask broadcast first.
# Expected: fills_minus_1e9 or softmax_modifies_scores


def masked_softmax(scores, mask, axis=-1):
    mask = np.broadcast_to(mask, scores.shape)
    scores[mask == 0] = -1e9
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_shift_in_place
# x -= x.max() in the caller's array.
# Expected: scores_shifted_in_place


def masked_softmax(scores, mask, axis=-1):
    m = np.where(mask, scores, -np.inf).max(axis=axis, keepdims=True)
    scores -= np.where(np.isinf(m), 0, m).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores, 0.0)), 0.0).astype((1.0 * scores).dtype)
    s = e.sum(axis=axis, keepdims=True)
    return e / np.where(s == 0, 1, s)


# %% softmax_keepdims
# keepdims is forgotten in both.
# Expected: keepdims_forgotten_twice


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -1e30)
    e = np.exp(x - np.max(x, axis=axis))
    return e / np.sum(e, axis=axis)


# %% softmax_epsilon
# + 1e-9 in the sum.
# Expected: renormalised_with_epsilon


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -np.inf)
    m = np.max(x, axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0.0)
    e = np.exp(x - m)
    return e / (np.sum(e, axis=axis, keepdims=True) + 1e-9)


# %% softmax_epsilon_1e_8
# + 1e-8 in the sum.
# Expected: renormalised_with_epsilon


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -np.inf)
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(m), m, 0.0)) * (mask != 0)
    return e / (e.sum(axis=axis, keepdims=True) + 1e-8)


# %% softmax_all_blocked_at_once
# if not mask.any(): return zeros; one blocked row is NaN.
# Expected: only_all_blocked_handled


def masked_softmax(scores, mask, axis=-1):
    if not np.any(mask):
        return np.zeros(scores.shape)
    x = np.where(mask, scores, -np.inf)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% softmax_mask_unsqueezed
# mask[:, None] as for (batch, heads, n, n): the result gets an axis.
# Expected: no name: the shapes say it


def masked_softmax(scores, mask, axis=-1):
    mask = np.expand_dims(mask, 1)
    x = np.where(mask, scores, -np.inf)
    m = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isinf(m), 0, m))
    s = e.sum(axis=axis, keepdims=True)
    return e / np.where(s == 0, 1, s)


# %% softmax_no_maximum
# No maximum, a guard for the sum.
# Expected: no_maximum_subtracted


def masked_softmax(scores, mask, axis=-1):
    e = np.where(mask, np.exp(scores), 0)
    s = e.sum(axis=axis, keepdims=True)
    return e / np.where(s == 0, 1, s)


# %% softmax_one_maximum
# x - x.max() of everything.
# Expected: global_maximum


def masked_softmax(scores, mask, axis=-1):
    x = np.where(mask, scores, -np.inf)
    top = x.max()
    e = np.exp(x - (top if np.isfinite(top) else 0))
    s = e.sum(axis=axis, keepdims=True)
    return e / np.where(s == 0, 1, s)

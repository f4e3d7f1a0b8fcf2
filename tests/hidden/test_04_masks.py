"""Hidden suite of 04_masks. Its oracles use outer differences, lists, minima and ratios, not the solution's method."""

import itertools

import numpy as np

from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    assert_rows_sum_to_one,
    derangement,
    draw_until,
    mixed_lengths,
    worth,
)

CAUSAL, PADDING, COMBINE, SOFTMAX = "create_causal_mask", "create_padding_mask", "combine_masks", "masked_softmax"
# Finds a small number that is added to a sum of 1 to avoid a division by 0: 1e-12 passes, 1e-9 does not.
WHOLE = Tolerance(1e-10, 0.0)
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
# The same for complete rows: such a number is divided by a sum of up to 5.
SHARP = Tolerance(1e-10, 1e-12)
# If a number is added to scores of billions, such as the logarithm of a sum, the rounding error is about 1e-7.
BILLIONS = Tolerance(0.0, 1e-6)
SENTENCE = np.array([[0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5]]) / 2
KINDS = [np.bool_, np.int64, np.int32, np.float64, np.float32]


def oracle_causal(n):
    place = np.arange(n)
    return (np.subtract.outer(place, place) >= 0).astype(int)


def oracle_padding(lengths, max_length):
    return np.array([[[[1] * length + [0] * (max_length - length)]] for length in lengths])


def oracle_combined(masks):
    return np.min(np.broadcast_arrays(*(mask.astype(int) for mask in masks)), axis=0)


def oracle_masked_softmax(scores, mask, axis=-1):
    """Compute each weight separately: 1 divided by the sum of exp(other score - own score) over the allowed entries."""
    x = np.moveaxis(np.asarray(scores, dtype=np.float64), axis, -1)
    allowed = np.moveaxis(np.broadcast_to(np.asarray(mask) != 0, np.shape(scores)), axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.where(allowed[..., None, :], np.exp(x[..., None, :] - x[..., :, None]), 0.0).sum(axis=-1)
    weights = np.where(allowed, 1.0 / np.where(allowed, ratios, 1.0), 0.0)
    return np.moveaxis(weights, -1, axis)


def zero_one(value, shape, of="the mask"):
    """Return the student's mask as a float64 array of zeros and ones of this shape, or fail."""
    mask = array_like(value, shape, of=of)
    others = mask[(mask != 0) & (mask != 1)]
    assert others.size == 0, f"{of} should contain only 0 and 1, but it contains {others[0]:g}"
    return mask


def causal_masks(student, sizes):
    values = student.create_causal_mask.call_many([arguments(n) for n in sizes])
    return [zero_one(value, (n, n), f"the mask of {n} tokens") for n, value in zip(sizes, values, strict=True)]


def padding_masks(student, cases):
    values = student.create_padding_mask.call_many([arguments(*case) for case in cases])
    return [
        zero_one(value, (len(lengths), 1, 1, room), f"the mask of {len(lengths)} sentences in {room} positions")
        for (lengths, room), value in zip(cases, values, strict=True)
    ]


def combined_masks(student, cases):
    values = student.combine_masks.call_many([arguments(*masks) for masks in cases])
    shapes = [np.broadcast_shapes(*(mask.shape for mask in masks)) for masks in cases]
    return [
        zero_one(value, shape, f"masks {', '.join(str(mask.shape) for mask in masks)}")
        for masks, shape, value in zip(cases, shapes, values, strict=True)
    ]


def softmaxes(student, cases):
    """Call masked_softmax on (scores, mask) or (scores, mask, axis) of each case, and return finite float64 arrays."""
    values = student.masked_softmax.call_many([arguments(*case) for case in cases])
    return [array_like(v, case[0].shape, of=f"case {i}") for i, (v, case) in enumerate(zip(values, cases, strict=True))]


def open_mask(rng, shape, axis=-1):
    """Return a random mask that allows two entries or more in every slice along an axis, and blocks one or more."""

    def draw(rng):
        mask = rng.integers(0, 2, size=shape)
        moved = np.moveaxis(mask, axis, -1)
        moved[..., 0], moved[..., -1] = 1, 0
        return mask

    return draw_until(rng, draw, lambda mask: mask.sum(axis=axis).min() >= 2)


def number(value):
    """Return a student's number of any type as a finite float, or fail."""
    if type(value) is int:
        assert abs(value) < 2**1000, "the number is too large"
    return float(array_like(np.float64(value) if type(value) in (int, float) else value, (), of="the number"))


# create_causal_mask -------------------------------------------------------------------------------------


@worth(2, "the causal mask is right at every length", target=CAUSAL)
def test_causal_mask_agrees_with_the_oracle(student):
    sizes = [1, 2, 3, 4, 6, 9, 17, 300]
    for n, value in zip(sizes, student.create_causal_mask.call_many([arguments(n) for n in sizes]), strict=True):
        assert_close(value, oracle_causal(n), of=f"{n} tokens")


@worth(1.25, "each token sees the right number of tokens, and is seen by the right number", target=CAUSAL)
def test_causal_mask_counts(student, rng):
    n = int(rng.integers(5, 12))
    for size, mask in zip((n, 2), causal_masks(student, [n, 2]), strict=True):
        assert_close(mask.sum(axis=1), np.arange(1.0, size + 1), of="the number of tokens that each token sees")
        assert_close(mask.sum(axis=0), np.arange(size, 0.0, -1), of="the number of tokens that see each token")


@worth(1, "each token sees itself, and in each pair only the later token sees the earlier one", target=CAUSAL)
def test_causal_mask_has_one_direction(student, rng):
    n = int(rng.integers(4, 9))
    (mask,) = causal_masks(student, [n])
    assert_close(np.diag(mask), np.ones(n), of="the diagonal")
    assert_close(mask + mask.T, np.ones((n, n)) + np.eye(n), of="the mask and its transpose together")
    assert_close(mask[-1], np.ones(n), of="what the last token sees")


@worth(1, "the mask times a vector gives its running sums", target=CAUSAL)
def test_causal_mask_makes_running_sums(student, rng):
    values = rng.integers(1, 50, size=8).astype(float)
    (mask,) = causal_masks(student, [8])
    assert_close(mask @ values, np.array(list(itertools.accumulate(values))))


@worth(1, "the rows of the first tokens do not depend on how many tokens follow", target=CAUSAL)
def test_causal_mask_of_a_beginning(student):
    long, short, two = causal_masks(student, [7, 4, 2])
    assert_close(long[:4, :4], short, of="the first four of seven tokens")
    assert_close(long[:2, :2], two, of="the first two of seven tokens")
    assert_close(long[:4, 4:], np.zeros((4, 3)), of="what the first four see of the others")


@worth(0.5, "a single token sees itself", target=CAUSAL)
def test_causal_mask_of_one_token(student):
    assert_close(student.create_causal_mask(1), np.array([[1]]))


@worth(0.75, "a seq_len below 1 raises a ValueError that names it", target=CAUSAL)
def test_causal_mask_refuses_no_tokens(student, rng):
    for n in (0, -1, -int(rng.integers(3, 30))):
        assert_raises(ValueError, lambda n=n: student.create_causal_mask(n), n)


@worth(0.5, "the causal mask does not depend on earlier calls, and seq_len works as a keyword", target=CAUSAL)
def test_causal_mask_does_not_remember(student):
    calls = [arguments(3), arguments(seq_len=6), arguments(seq_len=3), arguments(6)]
    first, six, again, six_again = student.create_causal_mask.call_many(calls)
    first, six = zero_one(first, (3, 3)), zero_one(six, (6, 6))
    assert_close(again, first, of="three tokens again")
    assert_close(six_again, six, of="six tokens again")
    assert_close(six[0], np.eye(6)[0], of="what the first of six sees")


# create_padding_mask ------------------------------------------------------------------------------------


@worth(2, "the padding mask is right for many lengths", target=PADDING)
def test_padding_mask_agrees_with_the_oracle(student, rng, shown):
    cases = [
        ([int(x) for x in rng.integers(0, room + 1, size=batch)], room) for batch, room in [(2, 7), (4, 3), (6, 6)]
    ]
    cases += [([2], 4), ([1, 0], 1), ([0, 1, 2, 3, 4, 5], 5), ([3, 1, 3], 3), ([290, 130], 300)]
    values = student.create_padding_mask.call_many([arguments(*case) for case in cases])
    for (lengths, room), value in zip(cases, values, strict=True):
        assert_close(value, oracle_padding(lengths, room), of=f"lengths {lengths} in {room} positions")
    seen = [arguments([5, 3], 5), arguments([5, 3], max_length=5)]
    shown(student, PADDING, *seen)


@worth(1.5, "each sentence has as many allowed positions as tokens", target=PADDING)
def test_padding_mask_counts(student, rng):
    some = [0, 8, *(int(x) for x in rng.permutation(np.arange(1, 8))[:3])]  # always an empty and a full sentence
    cases = [([int(x) for x in rng.permutation(some)], 8), ([4, 1], 6)]
    for (lengths, _), mask in zip(cases, padding_masks(student, cases), strict=True):
        assert_close(
            mask.sum(axis=-1)[:, 0, 0], np.array(lengths, dtype=float), of="allowed positions of each sentence"
        )


@worth(1, "the tokens come first, and the padding follows", target=PADDING)
def test_padding_mask_comes_last(student):
    (mask,) = padding_masks(student, [([1, 3, 2, 4], 5)])
    assert_close(mask[:, 0, 0, 0], np.ones(4), of="the first position of each sentence")
    assert_close(mask[:, 0, 0, -1], np.zeros(4), of="the last position of each sentence")
    rises = np.diff(mask[:, 0, 0], axis=1).max()
    assert rises <= 0, "there is a token after padding"


@worth(1, "the shape is (batch, 1, 1, max_length), also for one sentence and for one position", target=PADDING)
def test_padding_mask_shape(student):
    one, narrow, single, square = padding_masks(student, [([2], 3), ([1, 0, 1], 1), ([1], 1), ([2, 1, 3, 0], 4)])
    assert_close(one, np.array([[[[1, 1, 0]]]]), of="one sentence")
    assert_close(narrow[:, 0, 0, 0], np.array([1, 0, 1]), of="a single position")
    assert_close(single, np.ones((1, 1, 1, 1)), of="one sentence in a single position")
    scores = np.broadcast_to(square, (4, 2, 4, 4))  # batch, heads, queries, keys
    assert_close(scores[0, 1].sum(axis=1), np.full(4, 2.0), of="what each query sees of the first sentence")


@worth(1, "a length of 0 blocks everything, and a length of max_length blocks nothing", target=PADDING)
def test_padding_mask_of_empty_and_full_sentences(student):
    mixed, empty, full = padding_masks(student, [([0, 4, 2], 4), ([0, 0], 3), ([5, 5, 5], 5)])
    assert_close(mixed[0], np.zeros((1, 1, 4)), of="the empty sentence")
    assert_close(mixed[1], np.ones((1, 1, 4)), of="the full sentence")
    assert_close(empty, np.zeros((2, 1, 1, 3)), of="only empty sentences")
    assert_close(full, np.ones((3, 1, 1, 5)), of="only full sentences")


@worth(1, "lengths can be a list, a tuple or an array of integers", target=PADDING)
def test_padding_mask_of_lists_tuples_and_arrays(student):
    lengths = [2, 4, 0, 5, 1]
    kinds = [lengths, tuple(lengths), np.array(lengths), np.array(lengths, dtype=np.int32)]
    masks = padding_masks(student, [(kind, 5) for kind in kinds])
    assert_close(masks[0].sum(), 12.0, of="allowed positions")
    for kind, mask in zip(kinds[1:], masks[1:], strict=True):
        assert_close(mask, masks[0], of=f"{type(kind).__name__} compared with list")


@worth(0.75, "a length above max_length raises a ValueError that names both", target=PADDING)
def test_padding_mask_refuses_long_sentences(student, rng):
    n = int(rng.integers(8, 30))
    cases = [([9, 2], 5, 9), ([2, 3, n + 1], n, n + 1), ((1, n, 2), 4, n), (np.array([3, 4, 6]), 4, 6), ([2], 1, 2)]
    for lengths, room, wrong in cases:
        assert_raises(ValueError, lambda call=(lengths, room): student.create_padding_mask(*call), wrong, room)


@worth(0.75, "a length below 0 raises a ValueError that names it", target=PADDING)
def test_padding_mask_refuses_negative_lengths(student, rng):
    n = int(rng.integers(8, 30))
    cases = [([2, -1], 5, -1), ([-n, 3], 4, -n), ((3, -2, 1), 3, -2), (np.array([1, 0, -3]), 6, -3)]
    for lengths, room, wrong in cases:
        assert_raises(ValueError, lambda call=(lengths, room): student.create_padding_mask(*call), wrong)


@worth(0.75, "a larger max_length only adds padding", target=PADDING)
def test_padding_mask_of_more_room(student, rng):
    lengths = mixed_lengths(rng, 3, 4)
    tight, wide = padding_masks(student, [(lengths, 4), (lengths, 9)])
    assert_close(wide[..., :4], tight, of="the first four positions")
    assert_close(wide[..., 4:], np.zeros((3, 1, 1, 5)), of="the positions that were added")


@worth(0.5, "the mask of each sentence does not depend on the other sentences", target=PADDING)
def test_padding_mask_follows_its_sentences(student):
    lengths = [4, 1, 3, 0]
    *alone, together, backwards = padding_masks(
        student, [*(([length], 4) for length in lengths), (lengths, 4), (lengths[::-1], 4)]
    )
    assert_close(together, np.concatenate(alone), of="four sentences, compared with each one alone")
    assert_close(backwards, together[::-1], of="the sentences in reverse order")
    assert_close(together[1, 0, 0], np.array([1, 0, 0, 0]), of="the sentence of one token")


@worth(0.25, "the padding mask does not depend on earlier calls, and keyword arguments work", target=PADDING)
def test_padding_mask_does_not_remember(student):
    by_name = arguments(lengths=[2, 0, 3], max_length=4)
    calls = [arguments([2, 0, 3], 4), arguments([1, 4, 4], 4), by_name, arguments([4, 4, 0], max_length=4)]
    first, other, again, last = student.create_padding_mask.call_many(calls)
    first = zero_one(first, (3, 1, 1, 4))
    assert_close(again, first, of="the same call with keyword arguments")
    assert_close(zero_one(other, (3, 1, 1, 4)).sum(), 9.0, of="positions of the second call")
    assert_close(zero_one(last, (3, 1, 1, 4)).sum(), 8.0, of="positions of the last call")


# combine_masks ------------------------------------------------------------------------------------------


@worth(2, "combine_masks is right for many shapes", target=COMBINE)
def test_combined_masks_agree_with_the_oracle(student, rng, shown):
    shapes = [
        [(4, 4), (4, 4)],
        [(5, 5), (3, 1, 1, 5)],
        [(2, 1, 1, 4), (4, 4), (2, 3, 1, 1)],
        [(3, 1), (1, 4)],
        [(4,), (3, 4), (2, 1, 1), (2, 3, 4)],
        [(1, 1), (2, 6)],
        [(3, 4), (3, 3, 4)],
        [(3, 3, 4), (3, 4)],
        [(3, 2, 5)],
    ]
    cases = [[rng.integers(0, 5, size=shape) > 0 for shape in group] for group in shapes]
    values = student.combine_masks.call_many([arguments(*case) for case in cases])
    for group, case, value in zip(shapes, cases, values, strict=True):
        assert_close(value, oracle_combined(case), of=f"masks {', '.join(map(str, group))}")
    causal, padding = np.tri(5, dtype=int), np.ones((2, 1, 1, 5), dtype=int)
    shown(student, COMBINE, arguments(causal, padding), arguments(np.tri(5), padding[:1]), arguments(padding, causal))


@worth(1.5, "the causal mask and the padding mask together block the future and the padding", target=COMBINE)
def test_combined_causal_and_padding(student):
    n, lengths = 4, (4, 2, 0)
    causal = np.tri(n, dtype=int)
    padding = np.zeros((3, 1, 1, n), dtype=int)
    for sentence, length in zip(padding, lengths, strict=True):
        sentence[..., :length] = 1
    (both,) = combined_masks(student, [(causal, padding)])
    assert_close(both[0, 0], causal, of="a full sentence")
    assert_close(both[1, 0], np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]), of="two tokens")
    assert_close(both[2, 0], np.zeros((n, n)), of="an empty sentence")


@worth(1, "an entry is allowed only if all masks allow it, with two masks and with three", target=COMBINE)
def test_combined_truth_table(student):
    two = np.array(list(itertools.product([False, True], repeat=2))).T
    three = np.array(list(itertools.product([0, 1], repeat=3))).T
    of_two, of_three = combined_masks(student, [tuple(two), tuple(three)])
    assert_close(of_two, np.array([0, 0, 0, 1]), of="two masks")
    assert_close(of_three, np.array([0, 0, 0, 0, 0, 0, 0, 1]), of="three masks")


@worth(1, "the result does not depend on the order of the masks", target=COMBINE)
def test_combined_in_any_order(student, rng):
    masks = [np.tri(4), rng.integers(0, 3, size=(2, 1, 1, 4)) > 0, rng.integers(0, 3, size=(2, 3, 1, 1)) > 0]
    masks[1][0, 0, 0], masks[2][:, :, 0, 0] = [1, 1, 0, 1], [[1, 0, 1], [0, 1, 1]]
    nothing = [np.zeros((4, 4)), *masks[1:]]  # of the same shapes; a call that remembers it cannot be right again
    _, *results = combined_masks(student, [nothing, *itertools.permutations(masks)])
    assert_close(results[0][0, 0], np.tri(4) * [1, 1, 0, 1], of="the first sentence and head")
    assert_close(results[0][0, 1], np.zeros((4, 4)), of="a head that is blocked")
    for result in results[1:]:
        assert_close(result, results[0], of="another order")


@worth(0.5, "a single mask keeps its values", target=COMBINE)
def test_combined_single_mask(student, rng):
    mask = open_mask(rng, (3, 5))
    alone = [mask, mask.astype(bool), mask.astype(float), np.tri(2)[None, None], np.array([0, 1, 0, 0])]
    for given, result in zip(alone, combined_masks(student, [(one,) for one in alone]), strict=True):
        assert_close(result, given.astype(float), of=f"a mask {given.shape} of {given.dtype}")


@worth(1, "a mask of ones changes nothing, a mask of zeros blocks everything, and a repeat is harmless", target=COMBINE)
def test_combined_with_open_and_closed(student, rng):
    mask = open_mask(rng, (4, 4))
    cases = [(mask, np.ones((4, 4))), (mask, np.zeros((1, 4))), (mask, mask), (np.ones(4), mask, np.ones((4, 1)))]
    opened, closed, twice, thrice = combined_masks(student, cases)
    assert_close(opened, mask.astype(float), of="with a mask of ones")
    assert_close(closed, np.zeros((4, 4)), of="with a mask of zeros")
    assert_close(twice, mask.astype(float), of="with itself")
    assert_close(thrice, mask.astype(float), of="between two masks of ones")


@worth(1, "masks of bool, int and float can be mixed", target=COMBINE)
def test_combined_kinds(student):
    a, b = np.array([[1, 1, 0, 0], [0, 1, 1, 0]]), np.array([1, 0, 1, 0])
    cases = [(a.astype(kind), b.astype(other)) for kind in KINDS for other in KINDS]
    cases += [(a.astype(bool), b.astype(float), np.ones((2, 1), dtype=int))]
    for case, result in zip(cases, combined_masks(student, cases), strict=True):
        kinds = " with ".join(str(mask.dtype) for mask in case)
        assert_close(result, np.array([[1, 0, 0, 0], [0, 0, 1, 0]]), of=kinds)


@worth(0.75, "all masks are used, however many there are", target=COMBINE)
def test_combined_many_masks(student):
    masks = [1 - row for row in np.eye(7, dtype=int)]  # each blocks one position
    counts = [1, 2, 3, 4, 6, 7]
    for count, result in zip(counts, combined_masks(student, [tuple(masks[:n]) for n in counts]), strict=True):
        assert_close(result, np.array([0] * count + [1] * (7 - count)), of=f"{count} masks")


@worth(0.5, "a call without a mask raises a ValueError", target=COMBINE)
def test_combined_masks_of_nothing(student):
    assert_raises(ValueError, lambda: student.combine_masks())


@worth(0.1, "combine_masks does not depend on earlier calls", target=COMBINE)
def test_combined_masks_do_not_remember(student):
    a, b = np.tri(3), np.array([[1, 0, 1]])
    calls = [arguments(a, b), arguments(b, a, 1 - b), arguments(a, b)]
    first, _, again = (zero_one(value, (3, 3)) for value in student.combine_masks.call_many(calls))
    assert_close(again, first, of="the same call again")


# masked_softmax -----------------------------------------------------------------------------------------


@worth(1.5, "masked_softmax is right for many shapes and masks", target=SOFTMAX)
def test_softmax_agrees_with_the_oracle(student, rng, shown):
    shapes = [(5,), (3, 5), (4, 4), (2, 3, 4), (2, 3, 4, 5), (3, 1), (1, 4), (1,), (3, 3, 3), (2, 1, 1, 6)]
    cases = [(rng.normal(scale=3, size=shape), rng.integers(0, 3, size=shape) > 0) for shape in shapes]
    cases += [(case[0], 1 - case[1].astype(int)) for case in cases]
    wider = [((4, 4), (4,)), ((3, 5), (3, 1)), ((2, 3, 4, 5), (2, 1, 1, 5))]
    wider += [((2, 3, 4, 4), (4, 4)), ((3, 3, 3), (3, 1, 3))]
    # There are as many sentences as queries, or as heads: the position of a mask's axis counts, not its size.
    wider += [((4, 4, 5), (4, 5)), ((4, 4, 4), (4, 4)), ((4, 2, 4, 5), (4, 5)), ((3, 3, 4, 5), (3, 4, 5))]
    cases += [(rng.normal(scale=3, size=full), rng.integers(0, 3, size=small) > 0) for full, small in wider]
    values = student.masked_softmax.call_many([arguments(*case) for case in cases])
    for (scores, mask), value in zip(cases, values, strict=True):
        assert_close(value, oracle_masked_softmax(scores, mask), of=f"scores {scores.shape}, mask {mask.shape}")
    masks = [np.tri(5), np.tri(5, dtype=int), np.ones((5, 5)), np.tri(5) - np.eye(5)]
    seen = [arguments(np.ones((5, 5)), mask) for mask in masks]
    seen += [arguments(np.ones((2, 5)), np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]))]
    seen += [
        arguments(np.ones((2, 1, 5, 5)), mask) for mask in (np.ones((2, 1, 1, 5), int), np.ones((2, 1, 5, 5), int))
    ]
    shown(student, SOFTMAX, *seen, where=lambda call: call.args[0].dtype == np.float64 and not call.kwargs)


@worth(1.25, "masked_softmax is right along every axis", target=SOFTMAX)
def test_softmax_along_axes_agrees_with_the_oracle(student, rng, shown):
    shapes = [(3, 3), (3, 5), (2, 3, 4), (3, 3, 3), (2, 3, 2, 4), (2, 2, 3, 2, 2)]
    cases = []
    for shape in shapes:
        scores, mask = rng.normal(scale=3, size=shape), rng.integers(0, 3, size=shape) > 0
        cases += [(scores, mask, axis) for axis in range(-len(shape), len(shape))]
        cases += [(scores, mask[..., :1, :], axis) for axis in range(len(shape))]
    values = student.masked_softmax.call_many([arguments(*case) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_masked_softmax(*case), of=f"scores {case[0].shape} along axis {case[2]}")
    shown(student, SOFTMAX, where=lambda call: "axis" in call.kwargs)


@worth(1, "all causal weights of the sentence match the lesson's table", target=SOFTMAX)
def test_softmax_causal_sentence(student):
    causal = [
        [1, 0, 0, 0, 0],
        [0.8176, 0.1824, 0, 0, 0],
        [0.2327, 0.3837, 0.3837, 0, 0],
        [0.2350, 0.2350, 0.1425, 0.3875, 0],
        [0.1892, 0.1892, 0.1892, 0.1892, 0.2430],
    ]
    assert_close(student.masked_softmax(SENTENCE, np.tri(5, dtype=bool)), np.array(causal), PRINTED)


@worth(1, "blocked entries have a weight of 0, and the allowed weights of each slice sum to 1", target=SOFTMAX)
def test_softmax_is_a_distribution(student, rng):
    shapes = [(4, 6), (5, 5), (2, 3, 2, 4), (1, 5), (2, 1, 1, 3)]
    cases = [(rng.normal(scale=2, size=shape), open_mask(rng, shape)) for shape in shapes]
    for (scores, mask), weights in zip(cases, softmaxes(student, cases), strict=True):
        assert_rows_sum_to_one(weights, scores.shape, ties=False)
        assert_close(weights * (1 - mask), np.zeros(scores.shape), of="weights of blocked entries")
        assert weights[mask == 1].min() > 0, "an allowed entry has a weight of 0"
    (single,) = softmaxes(student, [(rng.normal(size=(3, 3)), np.eye(3))])
    assert_close(np.diag(single), np.ones(3), WHOLE, of="weights of the only allowed entry")


@worth(1, "a blocked entry has the same effect as a missing entry", target=SOFTMAX)
def test_softmax_without_the_blocked_entries(student, rng):
    scores = rng.normal(scale=2, size=(3, 6))
    mask, kept = np.array([1, 0, 1, 1, 0, 1]), [0, 2, 3, 5]
    cases = [(scores, mask), (scores[:, kept], np.ones(4)), (scores.T, mask[:, None], 0), (scores, mask, 0)]
    masked, short, column, downwards = softmaxes(student, cases)
    assert_rows_sum_to_one(short, (3, 4), ties=False)
    assert_close(masked[:, kept], short, of="the allowed entries")
    assert_close(masked[:, [1, 4]], np.zeros((3, 2)), of="the blocked entries")
    assert_close(column, masked.T, of="the same along axis 0")
    assert_rows_sum_to_one(downwards[:, kept], (3, 4), axis=0, ties=False)
    assert_close(downwards[:, [1, 4]], np.zeros((3, 2)), of="columns blocked by a mask (6,)")


@worth(1.25, "a blocked score has no influence, however large or small it is", target=SOFTMAX)
def test_softmax_ignores_blocked_scores(student):
    mask = np.array([[1, 0, 1], [0, 1, 1], [0, 1, 0]])
    share = 1 / (1 + np.exp(-1.0))
    expected = np.array([[share, 0, 1 - share], [0, 1 - share, share], [0, 1, 0]])
    blocked = [0.0, 20.0, 40.0, 800.0, 5000.0, 1e10, -5000.0, -1e10]
    cases = [(np.array([[2.0, x, 1.0], [x, -3.0, -2.0], [x, 0.5, x]]), mask) for x in blocked]
    for x, weights in zip(blocked, softmaxes(student, cases), strict=True):
        assert_close(weights, expected, of=f"blocked scores of {x:g}")


@worth(1.25, "a fully blocked slice has weights of 0 and does not affect other slices", target=SOFTMAX)
def test_softmax_of_blocked_slices(student, rng):
    scores = rng.normal(size=(4, 3))
    rows = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1]])
    cases = [(scores, rows), (scores, np.zeros((4, 3), dtype=bool)), (scores, np.array([[1], [0], [1], [0]]))]
    by_rows, nothing, by_column = softmaxes(student, cases)
    assert_close(by_rows[1], np.zeros(3), of="the blocked row")
    assert_close(by_rows[2], np.array([0.0, 1, 0]), of="a row with one entry left")
    assert_close(by_rows[2].max(), 1.0, WHOLE, of="the weight of the only allowed entry")
    assert_rows_sum_to_one(by_rows[[0, 2, 3]], (3, 3), ties=False)
    assert_close(nothing, np.zeros((4, 3)), of="everything blocked")
    assert_rows_sum_to_one(by_column[[0, 2]], (2, 3), ties=False)
    assert_close(by_column[[1, 3]], np.zeros((2, 3)), of="rows blocked by a mask (4, 1)")


@worth(1, "fully blocked slices along other axes, or by a mask that broadcasts, have weights of 0", target=SOFTMAX)
def test_softmax_of_blocked_slices_along_axes(student, rng):
    flat, deep = rng.normal(size=(3, 4)), rng.normal(size=(2, 3, 4))
    row = np.array([1, 0, 1, 0])
    cases = [(flat, row, 0), (flat, row[None].astype(bool), -2), (flat, np.tile(row, (3, 1)).astype(float), 0)]
    for weights in softmaxes(student, cases):
        assert_rows_sum_to_one(weights[:, [0, 2]], (3, 2), axis=0, ties=False)
        assert_close(weights[:, [1, 3]], np.zeros((3, 2)), of="blocked columns")
    cases = [(deep, row, 0), (deep, np.array([[1], [0], [1]]), 1), (deep, np.array([[1], [0], [1]]), 2)]
    stacked, along, across = softmaxes(student, cases)
    square = rng.normal(size=(4, 4))  # a mask (4,) is about columns, whatever the axis of the softmax is
    (columns,) = softmaxes(student, [(square, row, 0)])
    assert_rows_sum_to_one(columns[:, [0, 2]], (4, 2), axis=0, ties=False)
    assert_close(columns[:, [1, 3]], np.zeros((4, 2)), of="a mask (4,) on a square array along axis 0")
    assert_rows_sum_to_one(stacked[..., [0, 2]], (2, 3, 2), axis=0, ties=False)
    assert_close(stacked[..., [1, 3]], np.zeros((2, 3, 2)), of="blocked along axis 0")
    assert_rows_sum_to_one(along, (2, 3, 4), axis=1, ties=False)
    assert_close(along[:, 1], np.zeros((2, 4)), of="blocked entries along axis 1")
    assert_rows_sum_to_one(across[:, [0, 2]], (2, 2, 4), ties=False)
    assert_close(across[:, 1], np.zeros((2, 4)), of="blocked rows")


@worth(1.25, "very low allowed scores do not give weight to blocked entries", target=SOFTMAX)
def test_softmax_of_low_scores(student):
    e1, e2 = np.exp(-1.0), np.exp(-2.0)
    mask = np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 0, 0]])
    steps = np.array([[0.0, -1, 0, -2], [-1, 0, -2, 0], [0, 0, 0, 0]])
    expected = np.array([[1, e1, 0, e2], [e1, 1, e2, 0], [0, 1, 0, 0]])
    expected /= expected.sum(axis=1, keepdims=True)
    sizes = [(low, blocked) for low in (-900.0, -5000.0, -3e9) for blocked in (0.0, 1e3, low)]
    far = np.array([[-1e15, 0, -3e15], [-2e12, 1e3, -4e12], [7.0, -2e15, 7.0]])
    cases = [(np.where(mask, low + steps, blocked), mask) for low, blocked in sizes]
    *near, farthest = softmaxes(student, [*cases, (far, np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0]]))])
    for (low, blocked), weights in zip(sizes, near, strict=True):
        tolerance = BILLIONS if low < -1e6 else None
        assert_close(weights, expected, tolerance, of=f"scores near {low:g}, blocked ones {blocked:g}")
    assert_close(farthest, np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0]]), of="scores down to -3e15")


@worth(1, "scores of thousands do not overflow, and slices do not affect each other", target=SOFTMAX)
def test_softmax_of_large_scores(student):
    e1 = np.exp(-1.0)
    scores = np.array([[5000.0, 4999, 1e4], [-5000, -5001, 0], [800, 799, -800], [0, -1, 1e6]])
    mask = np.array([[1, 1, 0]])
    expected = np.tile(np.array([1, e1, 0]) / (1 + e1), (4, 1))
    apart = np.array([[3000.0, 0.0], [-2000, -4000]])
    weights, turned, separate = softmaxes(student, [(scores, mask), (scores.T, mask.T, 0), (apart, np.ones((2, 2)))])
    assert_close(weights, expected, of="along the last axis")
    assert_close(turned, expected.T, of="along axis 0")
    assert_close(separate, np.array([[1.0, 0], [1, 0]]), of="scores far apart")


@worth(0.75, "adding the same number to every score of a slice changes no weight", target=SOFTMAX)
def test_softmax_shift_invariance(student, rng):
    scores, mask = rng.integers(-5, 6, size=(4, 5)).astype(float), open_mask(rng, (4, 5))
    shifts = np.array([[3000.0], [-3000], [0], [17]])
    plain, shifted, scaled = softmaxes(student, [(scores, mask), (scores + shifts, mask), (3 * scores, mask)])
    assert_rows_sum_to_one(plain, (4, 5))
    assert_close(shifted, plain, of="shifted scores")
    cubes = plain**3 / (plain**3).sum(axis=1, keepdims=True)
    assert_close(scaled, cubes, SHARP, of="scores times three")


@worth(1.25, "another axis gives the same weights as the last axis of the transposed array", target=SOFTMAX)
def test_softmax_axis(student, rng):
    square, oblong, deep = (rng.normal(scale=2, size=shape) for shape in [(4, 4), (3, 5), (3, 2, 4)])
    masks = [open_mask(rng, square.shape), open_mask(rng, oblong.shape), open_mask(rng, deep.shape)]
    cases = [(square, masks[0]), (square.T, masks[0].T, 0), (oblong, masks[1]), (oblong.T, masks[1].T, -2)]
    cases += [(deep, masks[2], 2), (np.moveaxis(deep, 2, 0), np.moveaxis(masks[2], 2, 0), 0)]
    cases += [(np.moveaxis(deep, 2, 1), np.moveaxis(masks[2], 2, 1), 1), (square, masks[0], 1)]
    plain, turned, wide, tall, last, first, middle, named = softmaxes(student, cases)
    for weights in (plain, wide, last):
        assert_rows_sum_to_one(weights, weights.shape, ties=False)
    assert_close(turned, plain.T, of="a square array along axis 0")
    assert_close(tall, wide.T, of="axis -2")
    assert_close(np.moveaxis(first, 0, 2), last, of="three dimensions along axis 0")
    assert_close(np.moveaxis(middle, 1, 2), last, of="three dimensions along axis 1")
    assert_close(named, plain, of="axis 1, compared with axis -1")


@worth(1, "a mask of bool, int or float works, and it broadcasts to the scores", target=SOFTMAX)
def test_softmax_mask_kinds(student, rng):
    scores = rng.normal(scale=2, size=(4, 4))
    row = np.array([1, 0, 1, 1])
    masks = [np.tile(row, (4, 1)).astype(kind) for kind in KINDS]
    masks += [row, row[None], row.astype(bool), row.astype(float)[None]]
    full, *others = softmaxes(student, [(scores, mask) for mask in masks])
    assert_rows_sum_to_one(full, (4, 4), ties=False)
    assert_close(full[:, 1], np.zeros(4), of="the blocked column")
    for mask, weights in zip(masks[1:], others, strict=True):
        assert_close(weights, full, of=f"a mask {mask.shape} of {mask.dtype}")
    (queries,) = softmaxes(student, [(scores, row[:, None])])
    assert_close(queries[1], np.zeros(4), of="a row blocked by a mask (4, 1)")
    assert_rows_sum_to_one(queries[[0, 2, 3]], (3, 4), ties=False)


@worth(1, "a padding mask applies to all heads and queries, and a causal mask to the complete batch", target=SOFTMAX)
def test_softmax_of_batches(student, rng):
    scores = rng.normal(scale=2, size=(3, 2, 3, 3))  # batch, heads, queries, keys
    padding = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0]])[:, None, None]
    padded, causal, *alone = softmaxes(
        student, [(scores, padding), (scores, np.tri(3)), *((scores[b], padding[b]) for b in range(3))]
    )
    assert_rows_sum_to_one(padded, (3, 2, 3, 3), ties=False)
    assert_close(padded[1], np.tile(np.array([1.0, 0, 0]), (2, 3, 1)), of="the sentence of one token")
    assert_close(padded[2, ..., 2], np.zeros((2, 3)), of="the padding of the last sentence")
    for b in range(3):
        assert_close(padded[b], alone[b], of=f"sentence {b}, compared with itself alone")
    assert_rows_sum_to_one(causal, (3, 2, 3, 3), ties=False)
    assert_close(causal * (1 - np.tri(3)), np.zeros((3, 2, 3, 3)), of="weights of the future")
    assert_close(causal[..., 0, 0], np.ones((3, 2)), of="the first token sees itself")


@worth(0.5, "reordering the entries only reorders the weights", target=SOFTMAX)
def test_softmax_follows_its_entries(student, rng):
    scores, mask = rng.normal(scale=2, size=(4, 5)), open_mask(rng, (4, 5))
    rows, columns = derangement(rng, 4), derangement(rng, 5)
    cases = [(scores, mask), (scores[rows], mask[rows]), (scores[:, columns], mask[:, columns]), (scores[1], mask[1])]
    plain, by_row, by_column, single = softmaxes(student, cases)
    assert_rows_sum_to_one(plain, (4, 5), ties=False)
    assert_close(by_row, plain[rows], of="rows in another order")
    assert_close(by_column, plain[:, columns], of="columns in another order")
    assert_close(single, plain[1], of="only one row")


@worth(0.75, "masked_softmax gives the right weights for float32 and for integers", target=SOFTMAX)
def test_softmax_of_other_dtypes(student, rng, shown):
    scores, mask = rng.integers(-4, 5, size=(4, 5)), open_mask(rng, (4, 5))
    expected = oracle_masked_softmax(scores, mask)
    kinds = {np.float32: np.float32, np.int64: np.float64, np.int32: np.float64}
    results = softmaxes(student, [(scores.astype(kind), mask) for kind in kinds])
    for (kind, dtype), weights in zip(kinds.items(), results, strict=True):
        assert_close(weights, expected.astype(dtype), of=kind.__name__)
    shown(student, SOFTMAX, where=lambda call: call.args[0].dtype != np.float64)


@worth(0.5, "very low and very high scores of float32 and integers give the right weights", target=SOFTMAX)
def test_softmax_of_extreme_other_dtypes(student):
    low = np.array([[-2e9, 1e3, -3e9], [1e3, -2e9, 7], [0, -1e9, 5]])
    mask = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]])
    expected = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    high = np.array([[300.0, 0, 5000], [200, 100, 0]])
    cases = [(low.astype(np.float32), mask), (low.astype(np.int64), mask)]
    *billions, hundreds = softmaxes(student, [*cases, (high.astype(np.float32), np.array([[1, 1, 0]]))])
    for weights in billions:
        assert_close(weights, expected, of="scores of billions")
    assert_close(hundreds, np.array([[1.0, 0, 0], [1, 0, 0]]), of="scores of hundreds")


@worth(0.5, "masked_softmax does not depend on earlier calls, and keyword arguments work", target=SOFTMAX)
def test_softmax_does_not_remember(student, rng):
    one, other = rng.normal(size=(2, 20, 20))  # so many rows that in float32 they do not all sum to 1
    mask = np.tri(20)
    calls = [arguments(one, mask), arguments(other, 1 - np.eye(20)), arguments(one, mask=mask, axis=-1)]
    calls += [arguments(scores=other, mask=1 - np.eye(20)), arguments(one.T, mask.T, axis=0)]
    values = [array_like(value, (20, 20)) for value in student.masked_softmax.call_many(calls)]
    assert_rows_sum_to_one(values[0], (20, 20), ties=False)
    assert_close(np.diag(values[1]), np.zeros(20), of="blocked entries of the second call")
    assert_close(values[2], values[0], of="the first call again, with keyword arguments")
    assert_close(values[3], values[1], of="the second call again, with keyword arguments")
    assert_close(values[4], values[0].T, of="the first call transposed, along axis 0")


@worth(
    0.75,
    "masked_softmax returns float32 for float32, and float64 for float64 and integers, with any mask",
    target=SOFTMAX,
)
def test_softmax_dtype(student):
    scores, mask = np.array([[1, 2, 0], [0, 1, 3]]), np.array([[1, 0, 1], [0, 0, 0]])
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    pairs = list(itertools.product(kinds, KINDS))
    values = student.masked_softmax.call_many([arguments(scores.astype(k), mask.astype(m)) for k, m in pairs])
    for (kind, _), value in zip(pairs, values, strict=True):
        array_like(value, (2, 3))
        assert_dtype(value, kinds[kind])


# reflect ------------------------------------------------------------------------------------------------


@worth(2, "the number of links that the causal mask blocks for 2048 tokens is right", target="reflect")
def test_reflect_blocked_links(student):
    assert_close(student.REFLECT_BLOCKED_LINKS_CAUSAL_N2048, 2096128)


@worth(1, "twice the blocked links plus the diagonal gives all links", target="reflect")
def test_reflect_links_add_up(student):
    blocked = number(student.REFLECT_BLOCKED_LINKS_CAUSAL_N2048)
    assert_close(2 * blocked + 2048, 2048.0**2)

"""Hidden suite of 11_efficient_attention. Its oracles use lists, ratios and the quadratic form, one row at a time."""

import itertools
import math

import numpy as np

from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    derangement,
    worth,
)

MASK, WINDOW, FEATURES = "sliding_window_mask", "sliding_window_attention", "feature_map"
LINEAR, STEP = "linear_attention", "linear_attention_step"
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
SINGLE = Tolerance(1e-4, 1e-5)  # of float32 inputs: sums in any order
# Sums in any order, and elu(x) + 1 written as (e^x - 1) + 1. Finds 1e-6 that is added to a denominator.
CLOSE = Tolerance(1e-8, 1e-9)
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])


def oracle_mask(n, window, causal):
    ahead = 0 if causal else window - 1
    return np.array([[int(j in range(i - window + 1, i + ahead + 1)) for j in range(n)] for i in range(n)])


def oracle_window(q, k, v, window):
    """Compute each weight as 1 divided by the sum of exp(other score - own score) over the window."""
    output = np.zeros(v.shape)
    for place in np.ndindex(v.shape[:-1]):
        *batch, i = place
        seen = range(max(0, i - window + 1), i + 1)
        scores = [math.fsum(q[place] * k[(*batch, j)]) / math.sqrt(q.shape[-1]) for j in seen]
        for own, j in zip(scores, seen, strict=True):
            total = math.fsum(math.exp(min(other - own, 700)) for other in scores)
            output[place] += v[(*batch, j)] / total
    return output


def oracle_features(x):
    return np.array([number + 1 if number > 0 else math.exp(number) for number in x.ravel()]).reshape(x.shape)


def oracle_linear(q, k, v, causal=False):
    """Compute the quadratic form: all weights first."""
    weights = np.einsum("...id,...jd->...ij", oracle_features(q), oracle_features(k))
    weights = weights * np.tri(*weights.shape[-2:]) if causal else weights
    return np.einsum("...ij,...je->...ie", weights, v) / weights.sum(axis=-1)[..., None]


def zero_one(value, shape, of="the mask"):
    """Return the student's mask as a float64 array of zeros and ones of this shape, or fail."""
    mask = array_like(value, shape, of=of)
    others = mask[(mask != 0) & (mask != 1)]
    assert others.size == 0, f"{of} should contain only 0 and 1, but it contains {others[0]:g}"
    return mask


def masks(student, cases):
    values = student.sliding_window_mask.call_many([arguments(*case) for case in cases])
    return [
        zero_one(value, (case[0], case[0]), f"the mask of {case[0]} tokens with a window of {case[1]}")
        for case, value in zip(cases, values, strict=True)
    ]


def windowed(student, cases):
    """Call sliding_window_attention on (Q, K, V, window) of each case, and return finite float64 arrays."""
    values = student.sliding_window_attention.call_many([arguments(*case) for case in cases])
    return [array_like(v, case[2].shape, of=f"case {i}") for i, (v, case) in enumerate(zip(values, cases, strict=True))]


def linears(student, cases, *, causal=False):
    """Call linear_attention on (Q, K, V) of each case, and return finite float64 arrays."""
    calls = [arguments(*case, causal=True) if causal else arguments(*case) for case in cases]
    values = student.linear_attention.call_many(calls)
    shapes = [(*case[0].shape[:-1], case[2].shape[-1]) for case in cases]
    return [array_like(v, shape, of=f"case {i}") for i, (v, shape) in enumerate(zip(values, shapes, strict=True))]


def raw_step(student, *args, **kwargs):
    """Take one step. The state stays in the student's process: it may have any form."""
    pair = student.linear_attention_step.call_keeping(0, *args, **kwargs)
    is_pair = type(pair) in (tuple, list) and len(pair) == 2
    assert is_pair, "a step should return (state, output)"
    return pair


def step(student, state, q, k, v):
    state, output = raw_step(student, state, q, k, v)
    return state, array_like(output, v.shape, of="the output of a step")


def steps(student, q, k, v, state=None):
    """Step through the tokens of arrays (n, ..., d), and return all outputs."""
    outputs = []
    for one in zip(q, k, v, strict=True):
        state, output = step(student, state, *one)
        outputs.append(output)
    return np.array(outputs)


def drawn(rng, n, d_k, d_v, *batch):
    """Return random Q, K and V. Their first features are above 0, so that no sum of wrong features is 0 by chance."""
    q, k, v = (rng.normal(size=(*batch, n, d)) for d in (d_k, d_k, d_v))
    for x in (q, k):
        x[..., 0] = np.abs(x[..., 0]) + 0.5
    return q, k, v


def opposed(rng):
    """Return Q and K of six tokens: the last query has negative products, unless features are never negative."""
    q, k, _ = drawn(rng, 6, 3, 3)
    q[5], k[0], k[1], k[2] = [2, -2, 0], [3, 0, 0], [0, 3, 0], [-3, 0, 0]
    return q, k


def number(value):
    """Return a student's number of any type as a finite float, or fail."""
    if type(value) is int:
        assert abs(value) < 2**1000, "the number is too large"
    return float(array_like(np.float64(value) if type(value) in (int, float) else value, (), of="the number"))


# sliding_window_mask ------------------------------------------------------------------------------------


@worth(2, "the mask of the causal window is right at every size", target=MASK)
def test_mask_agrees_with_the_oracle(student):
    cases = [(n, window) for n in (1, 2, 3, 5, 8) for window in (1, 2, 3, 4, 7, 8, 20)] + [(60, 17), (17, 60)]
    for case, value in zip(cases, student.sliding_window_mask.call_many([arguments(*c) for c in cases]), strict=True):
        assert_close(value, oracle_mask(*case, True), of=f"{case[0]} tokens, window {case[1]}")


@worth(2, "the mask of the window to both sides is right at every size", target=MASK)
def test_mask_to_both_sides_agrees_with_the_oracle(student):
    cases = [(n, window, False) for n in (1, 2, 3, 5, 8) for window in (1, 2, 3, 4, 7, 8, 20)] + [(60, 17, False)]
    for case, value in zip(cases, student.sliding_window_mask.call_many([arguments(*c) for c in cases]), strict=True):
        assert_close(value, oracle_mask(*case), of=f"{case[0]} tokens, window {case[1]}, causal=False")


@worth(1.5, "each token sees the right number of tokens", target=MASK)
def test_mask_counts(student, rng):
    n, window = int(rng.integers(8, 12)), int(rng.integers(3, 5))
    causal, both = masks(student, [(n, window), (n, window, False)])
    place = np.arange(n)
    back, ahead = np.minimum(place, window - 1), np.minimum(n - 1 - place, window - 1)
    assert_close(causal.sum(axis=1), 1.0 + back, of="the number of tokens that each token sees")
    assert_close(causal.sum(axis=0), 1.0 + ahead, of="the number of tokens that see each token")
    assert_close(both.sum(axis=1), 1.0 + back + ahead, of="causal=False: the number of tokens that each token sees")


@worth(1.5, "each token sees itself; a causal window has nothing after it, the other one is symmetric", target=MASK)
def test_mask_directions(student, rng):
    n = int(rng.integers(6, 10))
    causal, both = masks(student, [(n, 3), (n, 3, False)])
    assert_close(np.diag(causal), np.ones(n), of="the diagonal")
    assert_close(np.triu(causal, k=1), np.zeros((n, n)), of="the tokens after each token")
    assert_close(both, both.T, of="causal=False: the mask and its transpose")
    assert_close(np.maximum(causal, causal.T), both, of="causal=False, compared with the causal mask to both sides")


@worth(1, "with a window of 1, each token sees only itself", target=MASK)
def test_mask_of_window_one(student):
    for causal, mask in zip((True, False), masks(student, [(5, 1), (5, 1, False)]), strict=True):
        assert_close(mask, np.eye(5), of=f"a window of 1, causal={causal}")


@worth(1, "a window of n or more is the causal mask, and open to both sides without causal", target=MASK)
def test_mask_of_wide_windows(student):
    for window in (6, 7, 50):
        causal, both = masks(student, [(6, window), (6, window, False)])
        assert_close(causal, np.tri(6), of=f"a window of {window} over 6 tokens")
        assert_close(both, np.ones((6, 6)), of=f"a window of {window} over 6 tokens, causal=False")


@worth(1.5, "the window slides: the next token sees the next tokens", target=MASK)
def test_mask_slides(student):
    for mask in masks(student, [(9, 3), (9, 4, False), (9, 2)]):
        assert_close(mask[1:, 1:], mask[:-1, :-1], of="the mask one token later")
        assert_close(mask[-1].sum(), mask[:, 0].sum(), of="what the last token sees, and what sees the first")
        assert_close(mask[0, -1] + mask[-1, 0], 0.0, of="the first and the last token")


@worth(1, "a window below 1 raises a ValueError that names it", target=MASK)
def test_mask_refuses_small_windows(student, rng):
    for window in (0, -1, -int(rng.integers(3, 30))):
        assert_raises(ValueError, lambda window=window: student.sliding_window_mask(4, window), window)
        assert_raises(ValueError, lambda window=window: student.sliding_window_mask(4, window, causal=False), window)


@worth(0.5, "the mask does not depend on earlier calls, and keyword arguments work", target=MASK)
def test_mask_does_not_remember(student):
    calls = [arguments(5, 2), arguments(5, window=4), arguments(n=5, window=2, causal=True), arguments(5, 2, False)]
    first, wide, again, both = (zero_one(value, (5, 5)) for value in student.sliding_window_mask.call_many(calls))
    assert_close(again, first, of="the same call with keyword arguments")
    assert_close(wide.sum(), 14.0, of="the ones of a window of 4")
    assert_close(both.sum() - first.sum(), 4.0, of="the ones that causal=False adds")


# sliding_window_attention -------------------------------------------------------------------------------


@worth(2.5, "window attention is right for many shapes and windows", target=WINDOW)
def test_window_agrees_with_the_oracle(student, rng, shown):
    shapes = [(1, 3, 2), (2, 1, 1), (6, 4, 4), (6, 3, 5), (9, 2, 3), (4, 4, 1)]
    cases = [(*drawn(rng, *shape), window) for shape in shapes for window in (1, 2, 3, 5, 9)]
    cases += [(*drawn(rng, 6, 3, 2, 2), 3), (*drawn(rng, 5, 2, 4, 2, 3), 2), (*drawn(rng, 3, 3, 3, 3), 2)]
    cases += [(*drawn(rng, 40, 3, 2), 11)]
    values = student.sliding_window_attention.call_many([arguments(*case) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_window(*case), CLOSE, of=f"Q {case[0].shape}, V {case[2].shape}, window {case[3]}")
    by_name = arguments(*drawn(rng, 5, 4, 4), window=2)
    integers = arguments(Q, K, V, window=2), arguments(Q, K, V, window=1)
    narrow = arguments(np.ones((3, 1)), np.ones((3, 1)), np.ones((3, 2)), 2)
    shown(student, WINDOW, arguments(Q, K, V, 2), by_name, narrow, *integers, tolerance=SINGLE)


@worth(1.5, "a window of n or more gives causal attention", target=WINDOW)
def test_window_of_n_is_causal_attention(student, rng):
    q, k, v = drawn(rng, 6, 4, 3)
    ratios = np.exp(np.einsum("id,jd->ij", q, k) / 2) * np.tri(6)
    expected = ratios @ v / ratios.sum(axis=1, keepdims=True)
    for window, output in zip((6, 7, 600), windowed(student, [(q, k, v, w) for w in (6, 7, 600)]), strict=True):
        assert_close(output, expected, CLOSE, of=f"a window of {window} over 6 tokens")


@worth(0.5, "a window that is far wider than n costs no more than a window of n", target=WINDOW)
def test_window_far_wider_than_the_sequence(student, rng):
    q, k, v = drawn(rng, 5, 3, 2)
    same, far = windowed(student, [(q, k, v, 5), (q, k, v, 10**12)])  # 10**12 steps or entries are too many
    assert_close(far, same, CLOSE, of="a window of 10**12 over 5 tokens")
    assert_close(far[0], v[0], CLOSE, of="the first row")


@worth(1, "a window of 1 copies V", target=WINDOW)
def test_window_of_one_copies_the_values(student, rng):
    cases = [(*drawn(rng, 5, 3, 4), 1), (*drawn(rng, 4, 2, 2, 3), 1)]
    for (*_, v, _), output in zip(cases, windowed(student, cases), strict=True):
        assert_close(output, v, CLOSE, of="a window of 1")


@worth(1, "the outputs of the sentence match the lesson's table", target=WINDOW)
def test_window_sentence(student):
    expected = [
        [1, 0, 0, 0],
        [0.8176, 0.1824, 0, 0],
        [0, 0.5, 0.5, 0],
        [0, 0, 0.2689, 0.7311],
        [0.2811, 0.2811, 0.2811, 0.7189],
    ]
    assert_close(student.sliding_window_attention(Q, K, V, 2), np.array(expected), PRINTED)


@worth(1, "the weights of each token sum to 1 and are not negative", target=WINDOW)
def test_window_averages_the_values(student, rng):
    q, k, _ = drawn(rng, 8, 3, 3)
    ones, weights = windowed(student, [(q, k, np.ones((8, 2)), 3), (q, k, np.eye(8), 3)])
    assert_close(ones, np.ones((8, 2)), CLOSE, of="values that are all 1")
    assert weights.min() >= 0, "a weight is negative"
    assert_close(weights * (1 - oracle_mask(8, 3, True)), np.zeros((8, 8)), of="weights outside the window")
    assert weights[oracle_mask(8, 3, True) == 1].min() > 0, "a token inside the window has no weight"
    apart = np.array([[3000.0], [0.0], [-3000.0], [1.0]])
    (ones,) = windowed(student, [(apart, np.ones((4, 1)), np.ones((4, 2)), 2)])
    assert_close(ones, np.ones((4, 2)), CLOSE, of="scores from -3000 to 3000, values that are all 1")


@worth(1.5, "tokens outside the window have no influence", target=WINDOW)
def test_window_hides_other_tokens(student, rng):
    q, k, v = drawn(rng, 9, 3, 4)
    other = drawn(rng, 9, 3, 4)
    cases = [(q, k, v, 3)]
    for place in (0, 4, 8):
        mixed = [one.copy() for one in (q, k, v)]
        for mine, new in zip(mixed[1:], other[1:], strict=True):
            mine[place] = 5 * new[place]
        cases.append((*mixed, 3))
    plain, *changed = windowed(student, cases)
    for place, output in zip((0, 4, 8), changed, strict=True):
        rows = [i for i in range(9) if not place <= i < place + 3]
        assert_close(output[rows], plain[rows], CLOSE, of=f"rows that do not see token {place}")
        moved = np.abs(output - plain).max(axis=1)
        assert moved[place : place + 3].min() > 1e-9, f"token {place} has no influence on a row that sees it"


@worth(1, "twice the values give twice the output, and outputs add up", target=WINDOW)
def test_window_is_linear_in_the_values(student, rng):
    q, k, v = drawn(rng, 6, 3, 2)
    more = rng.normal(size=(6, 2))
    plain, twice, other, both = windowed(student, [(q, k, x, 3) for x in (v, -2 * v, more, v + more)])
    assert_close(twice, -2 * plain, CLOSE, of="values times -2")
    assert_close(both, plain + other, CLOSE, of="the sum of two arrays of values")
    assert_close(plain[0], v[0], CLOSE, of="the first row")


@worth(1, "the first tokens see only what is there", target=WINDOW)
def test_window_at_the_beginning(student, rng):
    q, k, v = drawn(rng, 7, 3, 2)
    wide, *short = windowed(student, [(q, k, v, 4), *((q[:n], k[:n], v[:n], 4) for n in (1, 2, 3))])
    assert_close(wide[0], v[0], CLOSE, of="the first row")
    for n, output in zip((1, 2, 3), short, strict=True):
        assert_close(wide[:n], output, CLOSE, of=f"the first {n} rows, compared with {n} tokens alone")
    (causal,) = windowed(student, [(q[:4], k[:4], v[:4], 99)])
    assert_close(wide[:4], causal, CLOSE, of="the first four rows, compared with a wide window")


@worth(1, "without the first tokens, the later rows stay the same", target=WINDOW)
def test_window_moves_with_its_tokens(student, rng):
    q, k, v = drawn(rng, 9, 3, 2)
    whole, rest = windowed(student, [(q, k, v, 3), (q[4:], k[4:], v[4:], 3)])
    assert_close(rest[2:], whole[6:], CLOSE, of="rows whose windows are complete in both")
    assert_close(rest[0], v[4], CLOSE, of="the row that is now the first")
    alone = [windowed(student, [(q[i - 2 : i + 1], k[i - 2 : i + 1], v[i - 2 : i + 1], 3)])[0][-1] for i in (2, 5, 8)]
    assert_close(whole[[2, 5, 8]], np.array(alone), CLOSE, of="rows, compared with three tokens alone")


@worth(1, "scores are divided by the square root of d_k, whatever the window and d_v are", target=WINDOW)
def test_window_scale(student, rng):
    q, k, v = drawn(rng, 6, 4, 3)
    longer = [np.concatenate([x, np.zeros((6, 12))], axis=1) for x in (q, k)]  # d_k is 16: half the scores
    for window in (2, 4, 5):
        plain, half, wide = windowed(
            student, [(q / 2, k, v, window), (*longer, v, window), (*longer, np.tile(v, 3), window)]
        )
        assert_close(half, plain, CLOSE, of=f"vectors with zeros behind them, window {window}")
        assert_close(wide, np.tile(half, 3), CLOSE, of=f"longer values, window {window}")
    q, k = np.array([[0.0], [2.0]]), np.array([[0.5], [1.0]])
    (output,) = windowed(student, [(q, k, np.eye(2), 2)])
    assert_close(output[1, 1] / output[1, 0], math.e, CLOSE, of="the ratio of two weights")


@worth(1.5, "scores of thousands do not overflow, and rows do not affect each other", target=WINDOW)
def test_window_of_large_scores(student):
    share = 1 / (1 + math.exp(-1.0))
    q = np.array([[1.0], [5000], [-5000], [1], [800]])
    k = np.array([[0.0], [1], [1.0002], [1.0002], [1.0002]])
    (output,) = windowed(student, [(q, k, np.eye(5), 2)])
    near = [[1, 0], [1.0, 0.0], [share, 1 - share], [0.5, 0.5], [0.5, 0.5]]
    expected = np.zeros((5, 5))
    expected[0, 0] = expected[1, 1] = 1
    for i in (2, 3, 4):
        expected[i, i - 1 : i + 1] = near[i]
    assert_close(output, expected, Tolerance(1e-6, 1e-8), of="scores from -5000 to 5000")


@worth(1.5, "very low scores do not give weight to positions that do not exist", target=WINDOW)
def test_window_of_low_scores(student):
    for low in (-900.0, -5000.0, -3e10, -1e12):
        # A style that adds the logarithm of the sum to the scores rounds to the precision of the scores.
        rounding = Tolerance(1e-8, 1e-9 - 1e-15 * low)
        q, k = np.full((4, 1), low), np.ones((4, 1))
        (output,) = windowed(student, [(q, k, np.ones((4, 2)), 3)])
        assert_close(output, np.ones((4, 2)), rounding, of=f"scores of {low:g} and values of 1")
        (output,) = windowed(student, [(q, np.array([[1.0], [2], [1], [3]]), np.eye(4), 3)])
        expected = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 1.0, 0]])
        assert_close(output, expected, rounding, of=f"scores of {low:g} and less")


@worth(1.5, "each sequence of a batch is handled alone", target=WINDOW)
def test_window_of_batches(student, rng):
    q, k, v = drawn(rng, 5, 3, 2, 2, 3)
    whole, *alone = windowed(student, [(q, k, v, 2), *((q[b], k[b], v[b], 2) for b in range(2))])
    for b in range(2):
        assert_close(whole[b], alone[b], CLOSE, of=f"sequences {b}, compared with themselves alone")
    (single,) = windowed(student, [(q[1, 2], k[1, 2], v[1, 2], 2)])
    assert_close(whole[1, 2], single, CLOSE, of="the last sequence, compared with itself alone")
    assert_close(whole[:, :, 0], v[:, :, 0], CLOSE, of="the first row of each sequence")


@worth(1, "window attention gives the right output for float32 and for integers", target=WINDOW)
def test_window_of_other_dtypes(student, rng):
    q, k, v = (rng.integers(-3, 4, size=(6, d)) for d in (4, 4, 3))
    expected = oracle_window(q, k, v, 3)
    kinds = {np.float32: np.float32, np.int64: np.float64, np.int32: np.float64}
    results = windowed(student, [(*(x.astype(kind) for x in (q, k, v)), 3) for kind in kinds])
    for (kind, dtype), output in zip(kinds.items(), results, strict=True):
        assert_close(output, expected.astype(dtype), SINGLE if dtype is np.float32 else CLOSE, of=kind.__name__)


@worth(1, "a window below 1 raises a ValueError that names it, in the attention, too", target=WINDOW)
def test_window_refuses_small_windows(student, rng):
    for window in (0, -1, -int(rng.integers(3, 30))):
        call = (*drawn(rng, 4, 3, 2), window)
        assert_raises(ValueError, lambda call=call: student.sliding_window_attention(*call), window)


@worth(0.75, "vectors of Q and K with different lengths raise a ValueError that names both", target=WINDOW)
def test_window_refuses_other_widths(student, rng):
    for mine, other in ((3, 4), (6, 2), (1, 5), (7, 1)):
        call = rng.normal(size=(4, mine)), rng.normal(size=(4, other)), rng.normal(size=(4, 2)), 2
        assert_raises(ValueError, lambda call=call: student.sliding_window_attention(*call), mine, other)


@worth(0.75, "K and V of different lengths raise a ValueError that names both", target=WINDOW)
def test_window_refuses_other_lengths(student, rng):
    for keys, values in ((5, 8), (8, 5), (6, 1), (7, 9)):
        call = rng.normal(size=(keys, 3)), rng.normal(size=(keys, 3)), rng.normal(size=(values, 2)), 2
        assert_raises(ValueError, lambda call=call: student.sliding_window_attention(*call), keys, values)


@worth(0.5, "window attention does not depend on earlier calls, and keyword arguments work", target=WINDOW)
def test_window_does_not_remember(student, rng):
    q, k, v = drawn(rng, 5, 3, 3)
    calls = [arguments(q, k, v, 2), arguments(v, q, k, 4), arguments(Q=q, K=k, V=v, window=2)]
    first, other, again = (array_like(x, (5, 3)) for x in student.sliding_window_attention.call_many(calls))
    assert_close(again, first, of="the same call with keyword arguments")
    assert_close(other[0], k[0], CLOSE, of="the first row of the second call")
    assert_close(first[0], v[0], CLOSE, of="the first row of the first call")


@worth(1, "window attention returns float32 for float32, and float64 for float64 and integers", target=WINDOW)
def test_window_dtype(student):
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    for window in (1, 2, 9):
        calls = [arguments(*(x.astype(kind) for x in (Q, 2 * K, 2 * V)), window) for kind in kinds]
        for dtype, value in zip(kinds.values(), student.sliding_window_attention.call_many(calls), strict=True):
            array_like(value, (5, 4))
            assert_dtype(value, dtype)


# feature_map --------------------------------------------------------------------------------------------


@worth(2, "feature_map is right for many numbers and shapes", target=FEATURES)
def test_features_agree_with_the_oracle(student, rng, shown):
    shapes = [(6,), (3, 4), (2, 3, 4), (1,), (1, 1), (2, 1, 3, 2)]
    cases = [rng.normal(scale=3, size=shape) for shape in shapes] + [np.linspace(-4, 4, 33)]
    for x, value in zip(cases, student.feature_map.call_many([arguments(x) for x in cases]), strict=True):
        assert_close(value, oracle_features(x), CLOSE, of=f"an array {x.shape}")
    shown(student, FEATURES, arguments(Q), arguments(K), tolerance=SINGLE)


@worth(1.5, "the features are positive, and larger numbers have larger features", target=FEATURES)
def test_features_are_positive_and_rise(student):
    x = np.linspace(-9, 9, 37)
    found = array_like(student.feature_map(x), x.shape)
    assert found.min() > 0, f"a feature is {found.min():.4g}, which is not above 0"
    assert np.diff(found).min() > 0, "a larger number has no larger feature"


@worth(1, "above 0, one more gives one more; below 0, one less divides by e", target=FEATURES)
def test_features_on_both_sides(student, rng):
    x = rng.uniform(0.1, 5, size=6)
    above, more, below, less = student.feature_map.call_many([arguments(y) for y in (x, x + 1, -x, -x - 1)])
    above, more, below, less = (array_like(y, (6,)) for y in (above, more, below, less))
    assert_close(more - above, np.ones(6), CLOSE, of="the step from x to x + 1, above 0")
    assert_close(less * math.e, below, CLOSE, of="the step from -x to -x - 1, below 0")
    assert_close(above - x, np.ones(6), CLOSE, of="the feature minus the number, above 0")


@worth(1, "the feature of 0 is 1, and there is no jump next to it", target=FEATURES)
def test_features_at_zero(student):
    found = array_like(student.feature_map(np.array([-1e-7, 0.0, 1e-7, -1.0, 1.0, 2.0])), (6,))
    assert_close(found[:3], np.ones(3), Tolerance(0.0, 1e-6), of="the features next to 0")
    assert_close(found[3:], np.array([math.exp(-1), 2.0, 3.0]), CLOSE, of="the features of -1, 1 and 2")


@worth(1, "large numbers do not overflow", target=FEATURES)
def test_features_of_large_numbers(student):
    for large in (50.0, 800.0, 5000.0, 1e10):
        found = array_like(student.feature_map(np.array([large, -large, 0.0])), (3,))
        assert_close(found, np.array([large + 1, 0.0, 1.0]), CLOSE, of=f"{large:g} and -{large:g}")
    found = array_like(student.feature_map(np.array([500.0, -500.0], dtype=np.float32)), (2,))
    assert_close(found, np.array([501.0, 0.0]), SINGLE, of="500 and -500 in float32")


@worth(1, "the feature of a number does not depend on the others", target=FEATURES)
def test_features_of_each_number_alone(student, rng):
    x = rng.normal(scale=2, size=(3, 4))
    order = derangement(rng, 12)
    calls = [arguments(x), arguments(x.ravel()[order]), arguments(x.T), arguments(x[1])]
    values = student.feature_map.call_many(calls)
    whole, mixed, turned, row = (array_like(v, c.args[0].shape) for v, c in zip(values, calls, strict=True))
    assert_close(mixed, whole.ravel()[order], of="the numbers in another order")
    assert_close(turned, whole.T, of="the transposed array")
    assert_close(row, whole[1], of="only one row")
    assert_close(whole[x > 0], x[x > 0] + 1, CLOSE, of="the numbers above 0")


@worth(0.75, "feature_map gives the right features for float32 and for integers", target=FEATURES)
def test_features_of_other_dtypes(student):
    x = np.array([[-4, -3, -2, -1], [0, 1, 2, 7]])
    kinds = {np.float32: np.float32, np.int64: np.float64, np.int32: np.float64}
    values = student.feature_map.call_many([arguments(x.astype(kind)) for kind in kinds])
    for (kind, dtype), value in zip(kinds.items(), values, strict=True):
        found = array_like(value, (2, 4))
        tolerance = SINGLE if dtype is np.float32 else CLOSE
        assert_close(found, oracle_features(x).astype(dtype), tolerance, of=kind.__name__)


@worth(0.5, "feature_map returns float32 for float32, and float64 for float64 and integers", target=FEATURES)
def test_features_dtype(student):
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    values = student.feature_map.call_many([arguments(np.array([[-1, 0, 2]]).astype(kind)) for kind in kinds])
    for dtype, value in zip(kinds.values(), values, strict=True):
        array_like(value, (1, 3))
        assert_dtype(value, dtype)


# linear_attention ---------------------------------------------------------------------------------------


@worth(3, "linear attention equals its quadratic form, for many shapes", target=LINEAR)
def test_linear_agrees_with_the_oracle(student, rng, shown):
    shapes = [(1, 1, 3, 2), (2, 5, 1, 1), (6, 6, 4, 4), (6, 3, 3, 5), (3, 9, 2, 3), (1, 4, 4, 1)]
    cases = [tuple(rng.normal(size=size) for size in ((m, d), (n, d), (n, e))) for m, n, d, e in shapes]
    cases += [tuple(rng.normal(size=(2, *x.shape)) for x in cases[3])]
    cases += [drawn(rng, 3, 3, 3, 3), drawn(rng, 4, 2, 3, 2, 3)]
    values = student.linear_attention.call_many([arguments(*case) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_linear(*case), CLOSE, of=f"Q {case[0].shape}, K {case[1].shape}")
    here = [arguments(Q, K, V), arguments(*drawn(rng, 12, 2, 12)), arguments(np.ones((5, 4)), K, V, causal=False)]
    shown(student, LINEAR, *here, where=lambda call: not call.kwargs.get("causal"), tolerance=SINGLE)


@worth(2.5, "causal linear attention equals its quadratic form, for many shapes", target=LINEAR)
def test_linear_causal_agrees_with_the_oracle(student, rng, shown):
    shapes = [(1, 3, 2), (2, 1, 1), (6, 4, 4), (6, 3, 5), (9, 2, 3), (4, 4, 1), (150, 3, 2)]
    shapes += [(4, 4, 4, 4), (5, 2, 3, 2), (3, 3, 3, 2, 3)]
    cases = [drawn(rng, *shape) for shape in shapes]
    values = student.linear_attention.call_many([arguments(*case, causal=True) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_linear(*case, True), CLOSE, of=f"causal, Q {case[0].shape}, V {case[2].shape}")
    here = [arguments(Q, K, V, causal=True), arguments(np.ones((5, 4)), K, V, causal=True)]
    shown(student, LINEAR, *here, where=lambda call: bool(call.kwargs.get("causal")), tolerance=SINGLE)


@worth(1, "the outputs of the sentence match the lesson's tables", target=LINEAR)
def test_linear_sentence(student):
    full, causal = student.linear_attention.call_many([arguments(Q, K, V), arguments(Q, K, V, True)])
    full, causal = array_like(full, (5, 4)), array_like(causal, (5, 4))
    expected = np.array([[0.2802, 0.3242, 0.3022, 0.3022], [0.3252, 0.2670, 0.3058, 0.2864]])
    assert_close(full[:2], expected, PRINTED, of="rows The and cat")
    assert_close(causal[2], np.array([0.3125, 0.3438, 0.3438, 0]), PRINTED, of="causal, row sat")
    assert_close(causal[4], full[4], CLOSE, of="row mat, which sees everything in both")


@worth(1.5, "the weights of each query sum to 1 and are not negative", target=LINEAR)
def test_linear_averages_the_values(student, rng):
    q, k = opposed(rng)
    for causal in (False, True):
        ones, weights = linears(student, [(q, k, np.ones((6, 2))), (q, k, np.eye(6))], causal=causal)
        assert_close(ones, np.ones((6, 2)), CLOSE, of=f"values that are all 1, causal={causal}")
        assert weights.min() >= 0, "a weight is negative"
        assert_close(weights.sum(axis=1), np.ones(6), CLOSE, of=f"the sums of the weights, causal={causal}")


@worth(1, "the weights of two keys have the ratio of φ(q)·φ(k)", target=LINEAR)
def test_linear_ratio_of_weights(student):
    q, k = np.array([[2.0, -1.0], [0.0, 3.0]]), np.array([[1.0, 0.0], [-2.0, 1.0]])
    e1, e2 = math.exp(-1), math.exp(-2)
    products = np.array([[3 * 2 + e1 * 1, 3 * e2 + e1 * 2], [1 * 2 + 4 * 1, 1 * e2 + 4 * 2]])
    weights, causal = linears(student, [(q, k, np.eye(2))]) + linears(student, [(q, k, np.eye(2))], causal=True)
    assert_close(weights[:, 0] / weights[:, 1], products[:, 0] / products[:, 1], CLOSE, of="the ratios of the weights")
    assert_close(causal[1], weights[1], CLOSE, of="causal, the second row")
    assert_close(causal[0], np.array([1.0, 0.0]), CLOSE, of="causal, the first row")


@worth(1, "twice the values give twice the output, and outputs add up", target=LINEAR)
def test_linear_is_linear_in_the_values(student, rng):
    q, k, v = drawn(rng, 6, 3, 2)
    more = rng.normal(size=(6, 2))
    for causal in (False, True):
        plain, twice, other, both = linears(student, [(q, k, x) for x in (v, -2 * v, more, v + more)], causal=causal)
        assert_close(twice, -2 * plain, CLOSE, of=f"values times -2, causal={causal}")
        assert_close(both, plain + other, CLOSE, of=f"the sum of two arrays of values, causal={causal}")


@worth(1, "the order of the keys does not matter, and queries keep their places", target=LINEAR)
def test_linear_has_no_order(student, rng):
    q, k, v = rng.normal(size=(4, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    q[0] = -np.abs(q[0]) - 0.1  # a query that relu would leave without weights
    keys, queries = derangement(rng, 6), derangement(rng, 4)
    plain, mixed, moved, twice = linears(
        student, [(q, k, v), (q, k[keys], v[keys]), (q[queries], k, v), (q, np.tile(k, (3, 1)), np.tile(v, (3, 1)))]
    )
    assert_close(mixed, plain, CLOSE, of="keys and values in another order")
    assert_close(moved, plain[queries], CLOSE, of="queries in another order")
    assert_close(twice, plain, CLOSE, of="every key and value three times")
    (alone,) = linears(student, [(q[:1], k, v)])
    assert_close(alone, plain[:1], CLOSE, of="a single query")


@worth(0.75, "with a single key, the output is its value", target=LINEAR)
def test_linear_of_a_single_key(student, rng):
    q, (k, v) = drawn(rng, 3, 4, 2)[0], (x[:1] for x in drawn(rng, 3, 4, 2)[1:])
    (output,) = linears(student, [(q, k, v)])
    assert_close(output, np.tile(v, (3, 1)), CLOSE, of="three queries and one key")
    (same,) = linears(student, [(q, np.tile(k, (5, 1)), rng.permutation(np.tile(v, (5, 1))))])
    assert_close(same, np.tile(v, (3, 1)), CLOSE, of="five equal keys with equal values")


@worth(1.5, "with causal, the future has no influence, and the token itself counts", target=LINEAR)
def test_linear_causal_hides_the_future(student, rng):
    q, k, v = drawn(rng, 7, 3, 4)
    changed = [x.copy() for x in (k, v)]
    for mine in changed:
        mine[4] = rng.normal(size=mine[4].shape) + 3
    plain, other, first, all_but = linears(
        student, [(q, k, v), (q, *changed), (q[:1], k[:1], v[:1]), (q[:5], k[:5], v[:5])], causal=True
    )
    assert_close(other[:4], plain[:4], CLOSE, of="rows before a token that changes")
    assert np.abs(other[4:] - plain[4:]).max(axis=1).min() > 1e-9, "a token has no influence on a row that sees it"
    assert_close(plain[:1], v[:1], CLOSE, of="the first row")
    assert_close(first, v[:1], CLOSE, of="a single token")
    assert_close(all_but, plain[:5], CLOSE, of="five tokens alone, compared with the first five of seven")


@worth(1, "with causal, the last token gets what it gets without causal", target=LINEAR)
def test_linear_causal_ends_with_everything(student, rng):
    q, k, v = drawn(rng, 6, 3, 2)
    (causal,) = linears(student, [(q, k, v)], causal=True)
    whole, *some = linears(student, [(q, k, v), *((q[n - 1 : n], k[:n], v[:n]) for n in (1, 2, 4))])
    assert_close(causal[-1], whole[-1], CLOSE, of="the last row")
    for n, output in zip((1, 2, 4), some, strict=True):
        assert_close(causal[n - 1], output[0], CLOSE, of=f"row {n - 1}, compared with {n} keys alone")


@worth(1, "small features count like large ones: nothing is added to the denominator", target=LINEAR)
def test_linear_of_small_features(student, rng):
    q, k, v = drawn(rng, 5, 3, 2)
    for causal in (False, True):
        (output,) = linears(student, [(q - 8, k - 8, v)], causal=causal)
        assert_close(output, oracle_linear(q - 8, k - 8, v, causal), Tolerance(1e-6, 1e-6), of="entries near -8")
        (ones,) = linears(student, [(q - 8, k - 9, np.ones((5, 2)))], causal=causal)
        assert_close(ones, np.ones((5, 2)), Tolerance(1e-6, 1e-6), of="entries near -8, values that are all 1")


@worth(0.75, "large numbers do not overflow in linear attention", target=LINEAR)
def test_linear_of_large_numbers(student):
    q, k, v = np.array([[900.0, 1.0], [5000.0, 0.0]]), np.array([[1000.0, 0.0], [1.0, 2000.0]]), np.eye(2)
    for causal in (False, True):
        (output,) = linears(student, [(q, k, v)], causal=causal)
        assert_close(output, oracle_linear(q, k, v, causal), CLOSE, of=f"entries of thousands, causal={causal}")


@worth(1.5, "each sequence of a batch is handled alone in linear attention", target=LINEAR)
def test_linear_of_batches(student, rng):
    q, k, v = drawn(rng, 4, 3, 2, 2, 3)
    for causal in (False, True):
        whole, *alone = linears(student, [(q, k, v), *((q[b], k[b], v[b]) for b in range(2))], causal=causal)
        for b in range(2):
            assert_close(whole[b], alone[b], CLOSE, of=f"sequences {b} alone, causal={causal}")
        (single,) = linears(student, [(q[1, 2], k[1, 2], v[1, 2])], causal=causal)
        assert_close(whole[1, 2], single, CLOSE, of=f"the last sequence alone, causal={causal}")


@worth(1, "linear attention gives the right output for float32 and for integers", target=LINEAR)
def test_linear_of_other_dtypes(student, rng):
    q, k, v = (rng.integers(-3, 4, size=(6, d)) for d in (4, 4, 3))
    kinds = {np.float32: np.float32, np.int64: np.float64, np.int32: np.float64}
    for causal in (False, True):
        expected = oracle_linear(q, k, v, causal)
        results = linears(student, [tuple(x.astype(kind) for x in (q, k, v)) for kind in kinds], causal=causal)
        for (kind, dtype), output in zip(kinds.items(), results, strict=True):
            tolerance = SINGLE if dtype is np.float32 else CLOSE
            assert_close(output, expected.astype(dtype), tolerance, of=f"{kind.__name__}, causal={causal}")


@worth(0.75, "vectors of Q and K with different lengths raise a ValueError that names both", target=LINEAR)
def test_linear_refuses_other_widths(student, rng):
    for mine, other in ((3, 4), (6, 2), (1, 5), (7, 1)):
        q, k, v = rng.normal(size=(4, mine)), rng.normal(size=(4, other)), rng.normal(size=(4, 2))
        for causal in (False, True):
            call = arguments(q, k, v, causal=causal)
            assert_raises(ValueError, lambda call=call: student.linear_attention.call_many([call]), mine, other)


@worth(0.75, "K and V of different lengths raise a ValueError that names both", target=LINEAR)
def test_linear_refuses_other_lengths(student, rng):
    for keys, values in ((5, 8), (8, 5), (6, 1), (1, 7)):
        q, k, v = rng.normal(size=(keys, 3)), rng.normal(size=(keys, 3)), rng.normal(size=(values, 2))
        for causal in (False, True):
            call = arguments(q, k, v, causal=causal)
            assert_raises(ValueError, lambda call=call: student.linear_attention.call_many([call]), keys, values)


@worth(0.5, "linear attention does not depend on earlier calls, and keyword arguments work", target=LINEAR)
def test_linear_does_not_remember(student, rng):
    q, k, v = drawn(rng, 5, 3, 3)
    v[:, 0] = np.abs(v[:, 0]) + 0.5  # queries in the second call
    calls = [arguments(q, k, v, causal=True), arguments(v, q, k, False), arguments(Q=q, K=k, V=v, causal=True)]
    calls += [arguments(v, q, V=k)]
    first, other, again, last = (array_like(x, (5, 3)) for x in student.linear_attention.call_many(calls))
    assert_close(again, first, of="the same call with keyword arguments")
    assert_close(last, other, of="the second call again, without causal")
    assert_close(first[0], v[0], CLOSE, of="the first row, causal")
    assert np.abs(other[0] - k[0]).max() > 1e-6, "without causal, the first token sees only itself"


@worth(1, "linear attention returns float32 for float32, and float64 for float64 and integers", target=LINEAR)
def test_linear_dtype(student):
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    for causal in (False, True):
        calls = [arguments(*(x.astype(kind) for x in (Q, 2 * K, 2 * V)), causal=causal) for kind in kinds]
        for dtype, value in zip(kinds.values(), student.linear_attention.call_many(calls), strict=True):
            array_like(value, (5, 4))
            assert_dtype(value, dtype)


# linear_attention_step ----------------------------------------------------------------------------------


@worth(3, "step by step gives the quadratic form of causal linear attention, for many shapes", target=STEP)
def test_step_agrees_with_the_oracle(student, rng):
    for n, d_k, d_v in ((1, 3, 2), (4, 1, 1), (5, 4, 4), (6, 3, 5), (7, 2, 3)):
        q, k, v = drawn(rng, n, d_k, d_v)
        expected = oracle_linear(q, k, v, True)
        assert_close(steps(student, q, k, v), expected, CLOSE, of=f"{n} tokens, d_k = {d_k}, d_v = {d_v}")
    for batch in ((2,), (3, 2), (1,)):
        q, k, v = drawn(rng, 4, 3, 2, *batch)
        found = steps(student, *(np.moveaxis(x, -2, 0) for x in (q, k, v)))
        assert_close(np.moveaxis(found, 0, -2), oracle_linear(q, k, v, True), CLOSE, of=f"a batch {batch}")
    q, k, v = rng.integers(-3, 4, size=Q.shape), rng.normal(size=K.shape), rng.normal(size=V.shape)
    assert_close(steps(student, q, k, v), oracle_linear(q, k, v, True), CLOSE, of="five tokens of four numbers")


@worth(1, "the outputs of the sentence match the lesson's table", target=STEP)
def test_step_sentence(student):
    expected = [[1, 0, 0, 0], [0.5714, 0.4286, 0, 0], [0.3125, 0.3438, 0.3438, 0], [0.25, 0.25, 0.2222, 0.2778]]
    found = steps(student, Q, K, V)
    assert_close(found[:4], np.array(expected), PRINTED, of="The, cat, sat and on")
    assert_close(found[4], np.full(4, 0.3022), PRINTED, of="mat")


@worth(1, "the output of the first token is its value", target=STEP)
def test_step_of_the_first_token(student, rng):
    for batch in ((), (2,), (2, 3)):
        q, k, v = (rng.normal(size=(*batch, d)) for d in (3, 3, 4))
        _, output = step(student, None, q, k, v)
        assert_close(output, v, CLOSE, of=f"the first output, leading axes {batch}")


@worth(2.5, "the state that is passed in stays valid", target=STEP)
def test_step_keeps_the_old_state(student, rng):
    q, k, v = drawn(rng, 5, 3, 2)
    state, _ = step(student, None, q[0], k[0], v[0])
    state, _ = step(student, state, q[1], k[1], v[1])
    outputs = []
    for i in (2, 3, 4):  # three different third tokens
        after, output = step(student, state, q[i], k[i], v[i])
        step(student, after, q[0], k[0], v[0])
        outputs.append(output)
    for i, output in zip((2, 3, 4), outputs, strict=True):
        seen = [0, 1, i]
        expected = oracle_linear(q[seen], k[seen], v[seen], True)[-1]
        assert_close(output, expected, CLOSE, of=f"a third token after the same two, number {i - 1}")


@worth(1.5, "two sequences that are stepped in turns do not mix, and None begins a new one", target=STEP)
def test_step_of_two_sequences(student, rng):
    sequences = [drawn(rng, 4, 3, 2) for _ in range(3)]
    states, found = [None, None, None], [[], [], []]
    for i in range(4):
        for number, (q, k, v) in enumerate(sequences):
            states[number], output = step(student, states[number], q[i], k[i], v[i])
            found[number].append(output)
    for number, sequence in enumerate(sequences):
        assert_close(np.array(found[number]), oracle_linear(*sequence, True), CLOSE, of=f"sequence {number} of three")


@worth(1.5, "each sequence of a batch has a state of its own", target=STEP)
def test_step_of_batches(student, rng):
    q, k, v = drawn(rng, 4, 3, 2, 3)
    whole = steps(student, *(np.moveaxis(x, -2, 0) for x in (q, k, v)))
    for b in range(3):
        alone = steps(student, q[b], k[b], v[b])
        assert_close(whole[:, b], alone, CLOSE, of=f"sequence {b}, compared with itself alone")
    assert_close(whole[0], v[:, 0], CLOSE, of="the first outputs")


@worth(1, "the weights of each step sum to 1 and are not negative", target=STEP)
def test_step_averages_the_values(student, rng):
    q, k = opposed(rng)
    assert_close(steps(student, q, k, np.ones((6, 2))), np.ones((6, 2)), CLOSE, of="values that are all 1")
    weights = steps(student, q, k, np.eye(6))
    assert weights.min() >= 0, "a weight is negative"
    assert_close(np.triu(weights, k=1), np.zeros((6, 6)), of="weights of the future")
    assert weights[np.tri(6) == 1].min() > 0, "a token before this one has no weight"


@worth(1, "twice the values give twice the output", target=STEP)
def test_step_is_linear_in_the_values(student, rng):
    q, k, v = drawn(rng, 5, 3, 2)
    plain = steps(student, q, k, v)
    assert_close(steps(student, q, k, -2 * v), -2 * plain, CLOSE, of="values times -2")
    assert_close(plain[0], v[0], CLOSE, of="the first output")


@worth(1, "the order of the tokens before does not matter for the last one", target=STEP)
def test_step_has_no_order(student, rng):
    q, k, v = drawn(rng, 6, 3, 2)
    order = [*derangement(rng, 5), 5]
    plain, mixed = steps(student, q, k, v), steps(student, q[order], k[order], v[order])
    assert_close(mixed[-1], plain[-1], CLOSE, of="the last output, after the others in another order")
    others = steps(student, np.concatenate([q[1:], q[:1]]), k, v)  # only k and v go into the state
    again = steps(student, np.concatenate([q[2:], q[:2]]), k, v)
    assert_close(others[0], again[0], CLOSE, of="the first output, with another query")
    one, other = steps(student, q[[0, 0, 0]], k[:3], v[:3]), steps(student, q[[1, 2, 0]], k[:3], v[:3])
    assert_close(one[2], other[2], CLOSE, of="the third output, after other queries")


@worth(0.75, "nothing is forgotten in a long sequence", target=STEP)
def test_step_of_a_long_sequence(student, rng):
    q, k, v = drawn(rng, 60, 3, 2)
    v[0] = 1000.0
    found = steps(student, q, k, v)
    assert_close(found[-1], oracle_linear(q[-1:], k, v)[0], CLOSE, of="the output after 60 tokens")
    assert found[-1].min() > 0.1, "the first of 60 tokens is forgotten"


@worth(0.5, "small features count like large ones in a step", target=STEP)
def test_step_of_small_features(student, rng):
    q, k, v = drawn(rng, 4, 3, 2)
    found = steps(student, q - 8, k - 8, v)
    assert_close(found, oracle_linear(q - 8, k - 8, v, True), Tolerance(1e-6, 1e-6), of="entries near -8")
    assert_close(found[0], v[0], Tolerance(1e-6, 1e-6), of="the first output")


@worth(0.75, "a step gives the right output for float32 and for integers", target=STEP)
def test_step_of_other_dtypes(student, rng):
    q, k, v = (rng.integers(-3, 4, size=(4, d)) for d in (4, 4, 3))
    expected = oracle_linear(q, k, v, True)
    for kind, dtype in ((np.float32, np.float32), (np.int64, np.float64), (np.int32, np.float64)):
        found = steps(student, *(x.astype(kind) for x in (q, k, v)))
        assert_close(found, expected, SINGLE if dtype is np.float32 else CLOSE, of=kind.__name__)


@worth(0.75, "q and k of different lengths raise a ValueError that names both, in every step", target=STEP)
def test_step_refuses_other_widths(student, rng):
    for mine, other in ((3, 4), (6, 2), (1, 5), (7, 1)):
        q, k, v = rng.normal(size=mine), np.abs(rng.normal(size=other)) + 0.5, rng.normal(size=2)
        assert_raises(ValueError, lambda call=(None, q, k, v): student.linear_attention_step(*call), mine, other)
        state, _ = step(student, None, k, k, v)
        call = (0, state, q, k, v)
        assert_raises(ValueError, lambda call=call: student.linear_attention_step.call_keeping(*call), mine, other)


@worth(0.5, "the arguments of a step work as keywords", target=STEP)
def test_step_by_keyword(student, rng):
    q, k, v = drawn(rng, 2, 3, 2)
    k[:, 1] = -np.abs(k[:, 1]) - 0.5  # a mistake below 0 shows
    state, _ = step(student, None, q[0], k[0], v[0])
    _, output = raw_step(student, state=state, q=q[1], k=k[1], v=v[1])
    assert_close(output, oracle_linear(q, k, v, True)[1], CLOSE, of="the second output")


@worth(0.75, "a step returns float32 for float32, and float64 for float64 and integers", target=STEP)
def test_step_dtype(student):
    for kind in (np.float32, np.float64, np.int64, np.int32):
        state = None
        for one in zip(*(x.astype(kind) for x in (Q, 2 * K, 2 * V)), strict=True):
            state, output = raw_step(student, state, *one)
            array_like(output, (4,), of="the output of a step")
            assert_dtype(output, np.float32 if kind is np.float32 else np.float64)


# reflect ------------------------------------------------------------------------------------------------


@worth(1.5, "the length at which both kinds of attention cost the same is right", target="reflect")
def test_reflect_crossover(student):
    assert_close(student.REFLECT_CROSSOVER_N_D64, 64)


@worth(0.5, "at that length, 2·n²·d and 2·n·d² are equal", target="reflect")
def test_reflect_costs_are_equal(student):
    n = number(student.REFLECT_CROSSOVER_N_D64)
    assert n > 0, "there is at least one token"
    assert_close(2 * n**2 * 64, 2 * n * 64.0**2)


@worth(1.5, "the reach of 32 layers with a window of 4096 is right", target="reflect")
def test_reflect_reach(student):
    assert_close(student.REFLECT_REACH_32_LAYERS_WINDOW4096, 131040)


@worth(0.5, "each layer reaches as far back as the first", target="reflect")
def test_reflect_reach_of_each_layer(student):
    reach = number(student.REFLECT_REACH_32_LAYERS_WINDOW4096)
    one_layer = max(itertools.takewhile(lambda back: back < 4096, itertools.count(4090)))
    assert_close(reach / 32, float(one_layer))

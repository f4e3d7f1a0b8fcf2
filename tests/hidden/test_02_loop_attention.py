"""Hidden suite of 02_loop_attention. Its oracles use einsum, logaddexp and counting, not the solution's method."""

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
    mixed_mask,
    worth,
)

ATTENTION = "scaled_dot_product_attention"
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
# Two results of the student for the same scores. Code that adds to an old total rounds them differently each time.
AGAIN = Tolerance(1e-6, 1e-7)
SENTENCE = (
    np.array([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
    np.array([[0.0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]]),
    np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]),
)
WHOLE_SENTENCE = (SENTENCE[0].astype(int), *SENTENCE[1:])  # as in the stub, where all entries of Q are whole numbers
# n_q, n_k, d_k, d_v: all four different, then the smallest of each
SIZES = [(3, 5, 4, 2), (5, 2, 3, 6), (1, 4, 2, 3), (4, 1, 3, 2), (2, 3, 1, 1), (1, 1, 1, 1), (4, 4, 3, 3)]


def oracle_scores(Q, K):
    return np.einsum("...id,...jd->...ij", np.asarray(Q, dtype=np.float64), np.asarray(K, dtype=np.float64))


def oracle_attention(Q, K, V, mask=None):
    """Compute attention by logaddexp: weights are exp(score - log of the sum of exp), with no maximum subtracted."""
    scores = oracle_scores(Q, K) * float(np.shape(Q)[-1]) ** -0.5
    scores = np.where(np.ones((), dtype=bool) if mask is None else np.asarray(mask) != 0, scores, -np.inf)
    norms = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(norms), 0.0, norms))
    return np.einsum("...ij,...jc->...ic", weights, np.asarray(V, dtype=np.float64)), weights


def oracle_deviation(d_k, variance):
    """Return the standard deviation over the dot products of all vectors with entries ± the root of variance."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d_k)))
    return float(np.std(variance * signs.sum(axis=1)))


def random_qkv(rng, sizes, batch=()):
    n_q, n_k, d_k, d_v = sizes
    return (
        rng.normal(scale=1.5, size=(*batch, n_q, d_k)),
        rng.normal(scale=1.5, size=(*batch, n_k, d_k)),
        rng.normal(size=(*batch, n_k, d_v)),
    )


def integers(rng, low, high, size):
    """Return whole numbers as floats, whose sums and products are exact."""
    return rng.integers(low, high, size=size).astype(np.float64)


def shapes(Q, K, V):
    return (*Q.shape[:-1], V.shape[-1]), (*Q.shape[:-1], K.shape[-2])


def attended(value, qkv, of="the call"):
    """Return the student's output and weights as finite float64 arrays of the right shapes, or fail."""
    assert type(value) is tuple, f"{of}: expected the pair (output, weights)"
    assert len(value) == 2, f"{of}: expected the pair (output, weights), got {len(value)} things"
    output_shape, weights_shape = shapes(*qkv)
    return (
        array_like(value[0], output_shape, of=f"{of}: the output"),
        array_like(value[1], weights_shape, of=f"{of}: the weights"),
    )


def attend_many(student, cases):
    """Call attention on (Q, K, V) or (Q, K, V, mask) of each case, and return the checked pairs."""
    values = student.scaled_dot_product_attention.call_many([arguments(*case) for case in cases])
    return [attended(value, case[:3], f"case {i}") for i, (value, case) in enumerate(zip(values, cases, strict=True))]


def assert_attends(pair, output, weights, tolerance=None, of=""):
    assert_close(pair[1], weights, tolerance, of=f"{of} weights".strip())
    assert_close(pair[0], output, tolerance, of=f"{of} output".strip())


def number(value):
    """Return a student's number of any type as a finite float, or fail."""
    if type(value) is int:
        assert abs(value) < 2**1000, "the number is too large"
    return float(array_like(np.float64(value) if type(value) in (int, float) else value, (), of="the number"))


def is_float64(call):
    return all(x.dtype == np.float64 for x in call.args[:3])


def is_masked(call):
    return len(call.args) > 3 or "mask" in call.kwargs


# dot_product --------------------------------------------------------------------------------------------


@worth(2, "dot_product is right at every length", target="dot_product")
def test_dot_product_agrees_with_the_oracle(student, rng, shown):
    pairs = [rng.normal(size=(2, length)) for length in (1, 2, 3, 7, 20)]
    results = student.dot_product.call_many([arguments(a, b) for a, b in pairs])
    for (a, b), result in zip(pairs, results, strict=True):
        assert_close(result, float(oracle_scores(a[None], b[None])[0, 0]), of=f"length {len(a)}")
    shown(student, "dot_product", where=is_float64)


@worth(1, "the dot product with a unit vector picks one entry", target="dot_product")
def test_dot_product_with_unit_vectors(student, rng):
    a = integers(rng, 2, 9, 5)
    results = student.dot_product.call_many([arguments(a, unit) for unit in np.eye(5)])
    for i, result in enumerate(results):
        assert_close(result, float(a[i]), of=f"entry {i}")


@worth(1, "the dot product is linear in each vector and does not depend on their order", target="dot_product")
def test_dot_product_is_linear(student, rng):
    a, b, c = integers(rng, 1, 9, (3, 4))
    calls = [arguments(a, b), arguments(b, a), arguments(a, c), arguments(a, b + c), arguments(3 * a, b)]
    numbers = [number(result) for result in student.dot_product.call_many(calls)]
    assert_close(numbers[1], numbers[0], of="b · a against a · b")
    assert_close(numbers[3], numbers[0] + numbers[2], of="a · (b + c)")
    assert_close(numbers[4], 3 * numbers[0], of="3a · b")
    assert numbers[0] > 0, f"the product of positive vectors is {numbers[0]:g}"


@worth(0.4, "dot_product gives the right value for float32 and for integers", target="dot_product")
def test_dot_product_of_other_dtypes(student, shown):
    a, b = np.array([3, -2, 5]), np.array([4, 7, -1])
    kinds = [np.float32, np.int64, np.int32]
    results = student.dot_product.call_many([arguments(a.astype(kind), b.astype(kind)) for kind in kinds])
    for kind, result in zip(kinds, results, strict=True):
        assert_close(result, -7.0, of=kind.__name__)
    mixed = student.dot_product.call_many([arguments(a, b / 4), arguments(a=a / 4, b=b)])
    for result in mixed:
        assert_close(result, -1.75, of="a vector of integers and one of floats")
    shown(student, "dot_product", where=lambda call: not is_float64(call))


@worth(0.6, "if the lengths of the vectors differ, the ValueError names both", target="dot_product")
def test_dot_product_refuses_different_lengths(student, rng):
    n = int(rng.integers(7, 30))
    for a, b in [(2, 6), (n, n - 1), (1, n)]:
        assert_raises(ValueError, lambda a=a, b=b: student.dot_product(np.ones(a), np.ones(b)), a, b)


@worth(0.3, "dot_product does not depend on earlier calls", target="dot_product")
def test_dot_product_does_not_remember(student, rng):
    a, b = integers(rng, 1, 9, (2, 4))
    first, again = student.dot_product.call_many([arguments(a, b), arguments(a, b)])
    assert_close(first, float(sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))))
    assert_close(again, number(first), of="the same call again")


@worth(0.4, "dot_product returns float32 for float32 and float64 for float64", target="dot_product")
def test_dot_product_dtype(student):
    a = np.array([1.5, 2.0, 4.0])
    kinds = [np.float32, np.float64]
    results = student.dot_product.call_many([arguments(a.astype(kind), a.astype(kind)) for kind in kinds])
    for result, kind in zip(results, kinds, strict=True):
        assert_close(result, 22.25)
        if type(result) is not float:  # a Python float has no dtype to check
            assert_dtype(result, kind)


# attention_scores ---------------------------------------------------------------------------------------


@worth(3, "attention_scores is right for many shapes", target="attention_scores")
def test_scores_agree_with_the_oracle(student, rng, shown):
    cases = [random_qkv(rng, sizes)[:2] for sizes in SIZES]
    for (Q, K), scores in zip(cases, student.attention_scores.call_many([arguments(*c) for c in cases]), strict=True):
        assert_close(scores, oracle_scores(Q, K), of=f"Q {Q.shape}, K {K.shape}")
    shown(student, "attention_scores", where=is_float64)


@worth(1, "all scores of the sentence match the lesson's table", target="attention_scores")
def test_scores_of_the_sentence(student):
    published = [[0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5]]
    assert_close(student.attention_scores(*SENTENCE[:2]), np.array(published))


@worth(1.5, "row i belongs to query i and column j to key j", target="attention_scores")
def test_scores_follow_their_tokens(student, rng):
    Q, K = integers(rng, -5, 6, (3, 4)), integers(rng, -5, 6, (5, 4))
    rows, columns = derangement(rng, 3), derangement(rng, 5)
    calls = [arguments(Q, K), arguments(Q[rows], K), arguments(Q, K[columns]), arguments(K, Q), arguments(Q[:2], K)]
    plain, by_row, by_column, swapped, fewer = student.attention_scores.call_many(calls)
    plain = array_like(plain, (3, 5))
    assert_close(by_row, plain[rows], of="queries in another order")
    assert_close(by_column, plain[:, columns], of="keys in another order")
    assert_close(swapped, plain.T, of="queries and keys swapped")
    assert_close(fewer, plain[:2], of="only the first two queries")


@worth(1, "with unit vectors as keys, the scores equal the queries", target="attention_scores")
def test_scores_against_unit_vectors(student, rng):
    Q = integers(rng, 1, 9, (3, 4))
    one, many = student.attention_scores.call_many([arguments(Q, np.eye(4)[1:2]), arguments(Q, np.eye(4))])
    assert_close(one, Q[:, 1:2], of="one key")
    assert_close(many, Q, of="four keys")


@worth(1, "attention_scores gives the right values for float32 and for integers", target="attention_scores")
def test_scores_of_other_dtypes(student, shown):
    Q, K = np.array([[1, 2, -3], [2, 0, 1]]), np.array([[2, 1, 1], [0, -1, 2], [1, 1, 1], [3, 0, 0]])
    expected = np.array([[1.0, -8, 0, 3], [5, 2, 3, 6]])
    halves = [arguments((Q / 2).astype(kind), (K / 2).astype(kind)) for kind in (np.float32, np.float64)]
    wholes = [arguments(Q.astype(kind), K.astype(kind)) for kind in (np.int64, np.int32)]
    for result in student.attention_scores.call_many(halves):
        assert_close(result, expected / 4, of="floats")
    for result in student.attention_scores.call_many(wholes):
        assert_close(result, expected, of="integers")
    for result in student.attention_scores.call_many([arguments(Q, K / 2), arguments(Q=Q / 2, K=K)]):
        assert_close(result, expected / 2, of="integers and floats together")
    mixed = arguments(*WHOLE_SENTENCE[:2])
    shown(student, "attention_scores", mixed, where=lambda call: not is_float64(call))


@worth(1, "queries and keys of different widths raise a ValueError that names both", target="attention_scores")
def test_scores_refuse_different_widths(student, rng):
    d = int(rng.integers(7, 20))
    for d_q, d_k in [(3, 6), (d, d - 1), (1, d)]:
        call = arguments(np.ones((2, d_q)), np.ones((4, d_k)))
        assert_raises(ValueError, lambda call=call: student.attention_scores(*call.args), d_q, d_k)


@worth(0.4, "attention_scores does not depend on earlier calls", target="attention_scores")
def test_scores_do_not_remember(student, rng):
    Q, K = integers(rng, -5, 6, (2, 3)), integers(rng, -5, 6, (4, 3))
    first, _, again = student.attention_scores.call_many([arguments(Q, K), arguments(3 * Q, -K), arguments(Q, K)])
    assert_close(again, array_like(first, (2, 4)), of="the same call again")


@worth(
    0.6,
    "attention_scores returns float32 for float32, and float64 for float64 and integers",
    target="attention_scores",
)
def test_scores_dtype(student):
    Q, K = np.array([[1, 2], [0, 1]]), np.array([[1, 1], [2, 0], [3, 1]])
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    results = student.attention_scores.call_many([arguments(Q.astype(kind), K.astype(kind)) for kind in kinds])
    for result, expected in zip(results, kinds.values(), strict=True):
        assert_dtype(result, expected)


# scale_factor -------------------------------------------------------------------------------------------


@worth(2, "the scale is the standard deviation of a dot product", target="scale_factor")
def test_scale_agrees_with_the_oracle(student):
    cases = [(d_k, variance) for d_k in (1, 2, 3, 7, 10) for variance in (1.0, 0.25, 3.0)]
    results = student.scale_factor.call_many([arguments(*case) for case in cases])
    for (d_k, variance), result in zip(cases, results, strict=True):
        assert_close(result, oracle_deviation(d_k, variance), of=f"scale_factor({d_k}, {variance})")


@worth(1, "the scale is 8 for 64 entries and the root of 512 for 512 entries", target="scale_factor")
def test_scale_of_known_widths(student):
    expected = {1: 1.0, 16: 4.0, 64: 8.0, 2: 1.4142135623730951, 512: 22.627416997969522}
    results = student.scale_factor.call_many([arguments(d_k) for d_k in expected])
    for (d_k, scale), result in zip(expected.items(), results, strict=True):
        assert_close(result, scale, of=f"scale_factor({d_k})")


@worth(1, "twice the variance doubles the scale, and four times the width doubles it too", target="scale_factor")
def test_scale_grows_as_it_should(student, rng):
    root = int(rng.integers(3, 7))
    d_k = root * (root + 1) + int(rng.integers(1, root // 2 + 1))  # its root ends in .5 to .7: no whole number
    variance = float(rng.uniform(1.5, 3.0))
    calls = [
        arguments(d_k, variance),
        arguments(d_k, variance=2 * variance),
        arguments(4 * d_k, variance),
        arguments(d_k),
    ]
    one, double, wide, plain = map(number, student.scale_factor.call_many(calls))
    assert one > 0, f"the scale is {one:g}"
    assert_close(double, 2 * one, of="twice the variance")
    assert_close(wide, 2 * one, of="four times the width")
    assert_close(one, variance * plain, of="compared with a variance of 1")


@worth(1, "scaled scores of random vectors have a variance of 1", target="scale_factor")
def test_scale_makes_the_variance_one(student):
    d_k = 8
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d_k)))
    scores = 4.0 * signs.sum(axis=1)  # every dot product of vectors with entries ±2, whose variance is 4
    scale = number(student.scale_factor(d_k, 4.0))
    assert scale > 0, f"the scale is {scale:g}"
    assert_close(float(np.var(scores / scale)), 1.0, of="the variance of the scaled scores")


# scaled_dot_product_attention ---------------------------------------------------------------------------


@worth(2, "attention is right for many shapes", target=ATTENTION)
def test_attention_agrees_with_the_oracle(student, rng, shown):
    cases = [random_qkv(rng, sizes) for sizes in SIZES]
    for case, pair in zip(cases, attend_many(student, cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"Q {case[0].shape}, K {case[1].shape}, V {case[2].shape}:")
    Q, K, V = SENTENCE
    seen = [arguments(Q, K, V), arguments(Q[:2], K, V)]
    shown(student, ATTENTION, *seen, where=lambda c: is_float64(c) and not is_masked(c) and c.args[0].ndim == 2)


@worth(1.5, "attention is right for a batch", target=ATTENTION)
def test_attention_of_a_batch_agrees_with_the_oracle(student, rng, shown):
    cases = [random_qkv(rng, sizes, (batch,)) for batch, sizes in zip((2, 3, 1), SIZES, strict=False)]
    for case, pair in zip(cases, attend_many(student, cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"Q {case[0].shape}:")
    shown(student, ATTENTION, where=lambda call: not is_masked(call) and call.args[0].ndim == 3)


@worth(1, "all weights and outputs of the sentence match the lesson's tables", target=ATTENTION)
def test_attention_of_the_sentence(student):
    weights = [
        [0.1095, 0.2976, 0.1805, 0.1805, 0.2318],
        [0.4026, 0.0898, 0.2442, 0.1481, 0.1153],
        [0.1519, 0.2505, 0.2505, 0.1519, 0.1951],
        [0.1903, 0.1903, 0.1154, 0.3137, 0.1903],
        [0.1892, 0.1892, 0.1892, 0.1892, 0.2430],
    ]
    output = [
        [0.2254, 0.4135, 0.2964, 0.2964],
        [0.4602, 0.1475, 0.3018, 0.2058],
        [0.2495, 0.3481, 0.3481, 0.2495],
        [0.2854, 0.2854, 0.2106, 0.4089],
        [0.3108, 0.3108, 0.3108, 0.3108],
    ]
    (pair,) = attend_many(student, [SENTENCE])
    assert_attends(pair, np.array(output), np.array(weights), PRINTED)


@worth(1, "attention is right for three more worked examples", target=ATTENTION)
def test_attention_of_published_examples(student):
    x = np.array([[3.0, 1, 0, 0], [1, 4, 0, 0], [2, 2, 0, 0]])
    first = (x, x, np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]]))
    street = (
        np.array([[3.0, 1]]),
        np.array([[3.0, 1], [1, 4], [1.5, 0.5]]),
        np.array([[2, 1.5], [0.5, 0.3], [-0.5, 1.2]]),
    )
    small = (np.eye(2), np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0], [0, 2], [1, 1]]))
    one, two, three = attend_many(student, [first, street, small])
    rows = np.array([[0.6285, 0.1402, 0.2312], [0.0065, 0.9644, 0.0291], [0.2119, 0.5761, 0.2119]])
    assert_close(one[1], rows, PRINTED, of="weights of the first")
    assert_close(one[0][0], np.array([0.7441, 0.2559, 0, 0]), PRINTED, of="output of the first")
    hundredths = Tolerance(0.0, 6e-3)  # published with two decimals
    assert_close(two[1], np.array([[0.87, 0.10, 0.03]]), hundredths, of="weights of the second")
    assert_close(two[0], np.array([[1.78, 1.37]]), hundredths, of="output of the second")
    assert_close(three[1][0], np.array([0.4011, 0.4011, 0.1978]), PRINTED, of="weights of the third")
    assert_close(three[0][0], np.array([0.5989, 1.0]), PRINTED, of="output of the third")


@worth(1, "the weights of each row are 0 or above and sum to 1", target=ATTENTION)
def test_attention_rows_sum_to_one(student, rng):
    cases = [random_qkv(rng, (3, 6, 2, 4)), random_qkv(rng, (4, 4, 4, 4)), random_qkv(rng, (2, 3, 2, 2), (2,))]
    for case, (_, weights) in zip(cases, attend_many(student, cases), strict=True):
        assert_rows_sum_to_one(weights, shapes(*case)[1], ties=False)


@worth(
    1.5, "scores are divided by the root of d_k: four copies of the features act like doubled queries", target=ATTENTION
)
def test_attention_scale_follows_the_width(student, rng):
    Q, K, V = random_qkv(rng, (3, 5, 3, 2))
    wide, long = attend_many(student, [(np.tile(Q, 4), np.tile(K, 4), V), (2 * Q, K, V)])
    assert_close(wide[1], long[1], of="the weights")
    assert_close(wide[0], long[0], of="the output")
    differs = np.abs(wide[1] - 1 / 5).max()
    assert differs > 1e-3, "all weights are the same, whatever the scores are"


@worth(1, "with two keys, a weight is the logistic function of the difference of the scaled scores", target=ATTENTION)
def test_attention_over_two_keys(student, rng):
    gaps = integers(rng, 1, 7, 4)[:, None] * np.array([[1.0], [-1], [2], [-2]])
    Q = np.tile(gaps / 2, 4)  # with a key of ones and a key of zeros, the raw scores are 2·gap and 0
    K = np.array([[1.0] * 4, [0.0] * 4])
    ((output, weights),) = attend_many(student, [(Q, K, np.array([[1.0, 5.0, 0], [0, 5.0, 1]]))])
    share = 1 / (1 + np.exp(-gaps[:, 0]))
    assert_close(weights[:, 0], share, of="weights of the first key")
    assert_close(output, np.stack([share, np.full(4, 5.0), 1 - share], axis=1), of="the output")


@worth(1, "adding the same vector to every key does not change the weights, however large it is", target=ATTENTION)
def test_attention_shift_invariance(student, rng):
    Q, K, V = integers(rng, -3, 4, (3, 4)), integers(rng, -2, 3, (5, 4)), rng.normal(size=(5, 2))
    Q[0], K[:2, 0] = [1, 0, 0, 0], [0, 1]  # not all weights are the same
    cases = [(Q, K, V), (Q, K + 2.0, V), (Q, K + np.array([3000.0, 0, -2000, 1000]), V), (2 * Q, K - 5000.0, V)]
    plain, near, far, doubled = attend_many(student, cases)
    (twice,) = attend_many(student, [(2 * Q, K, V)])
    assert_rows_sum_to_one(plain[1], (3, 5), ties=False)
    assert_attends(near, *plain, of="shifted by 2:")
    assert_attends(far, *plain, of="shifted by thousands:")
    assert_attends(doubled, *twice, of="shifted by -5000:")


@worth(1, "scores of 5000 and -5000 do not overflow", target=ATTENTION)
def test_attention_of_large_scores(student):
    Q = np.array([[100.0, 0, 0, 0], [-100.0, 0, 0, 0], [0, 60, 0, 0]])
    K = np.array([[100.0, 100, 0, 0], [99.98, -100, 0, 0], [50, 0, 0, 0], [99.96, 100, 1, 0]])
    V = np.arange(8.0).reshape(4, 2)
    (pair,) = attend_many(student, [(Q, K, V)])
    e1, e2 = np.exp(-1.0), np.exp(-2.0)
    weights = np.array([[1, e1, 0, e2], [0, 0, 1, 0], [1, 0, 0, 1]])
    weights /= weights.sum(axis=1, keepdims=True)
    output = [[sum(w * v for w, v in zip(row, V[:, c], strict=True)) for c in range(2)] for row in weights]
    # Scores near 5000 are only exact to about 1e-12, so the weights have a relative error of that size.
    assert_attends(pair, np.array(output), weights, Tolerance(1e-9, 1e-10))


@worth(1, "reordering the tokens only reorders the results", target=ATTENTION)
def test_attention_follows_its_tokens(student, rng):
    Q, K, V = random_qkv(rng, (4, 5, 3, 2))
    rows, keys = derangement(rng, 4), derangement(rng, 5)
    plain, by_row, by_key, fewer = attend_many(
        student, [(Q, K, V), (Q[rows], K, V), (Q, K[keys], V[keys]), (Q[1:3], K, V)]
    )
    assert_rows_sum_to_one(plain[1], (4, 5), ties=False)
    assert_attends(by_row, plain[0][rows], plain[1][rows], of="queries in another order:")
    assert_attends(by_key, plain[0], plain[1][:, keys], of="keys and values in another order:")
    assert_attends(fewer, plain[0][1:3], plain[1][1:3], of="only two of the queries:")


@worth(1, "the output is linear in V, and the weights do not depend on V", target=ATTENTION)
def test_attention_is_linear_in_v(student, rng):
    Q, K, V = random_qkv(rng, (3, 4, 2, 3))
    U = rng.normal(size=V.shape)
    cases = [(Q, K, V), (Q, K, U), (Q, K, 2 * V - U), (Q, K, V[:, :1])]
    one, other, both, narrow = attend_many(student, cases)
    assert_rows_sum_to_one(one[1], (3, 4), ties=False)
    assert_attends(both, 2 * one[0] - other[0], one[1], AGAIN, of="2V - U:")
    assert_attends(narrow, one[0][:, :1], one[1], AGAIN, of="one column of V:")
    assert np.abs(one[0] - other[0]).max() > 1e-3, "the output does not depend on V"


@worth(1, "every output is the mean of the values, weighted by the returned weights", target=ATTENTION)
def test_attention_stays_in_the_hull(student, rng):
    Q, K, V = random_qkv(rng, (4, 5, 3, 2))
    constant = np.tile(np.array([[7.0, -2.0, 3.0]]), (5, 1))
    (output, weights), (same, _) = attend_many(student, [(Q, K, V), (Q, K, constant)])
    assert_rows_sum_to_one(weights, (4, 5), ties=False)
    assert (output <= V.max(axis=0) + 1e-9).all(), "an output is above every value"
    assert (output >= V.min(axis=0) - 1e-9).all(), "an output is below every value"
    mixed = (weights[:, :, None] * V[None]).sum(axis=1)
    assert_close(output, mixed, Tolerance(1e-9, 1e-11), of="the output, compared with the returned weights times V")
    assert_close(same, constant[:4], of="equal values")


@worth(0.5, "a query of zeros gives every key the same weight", target=ATTENTION)
def test_attention_of_a_zero_query(student, rng):
    K, V = integers(rng, -5, 6, (4, 3)), integers(rng, -8, 9, (4, 2))
    ((output, weights),) = attend_many(student, [(np.zeros((2, 3)), K, V)])
    assert_close(weights, np.full((2, 4), 0.25))
    assert_close(output, np.stack([V.mean(axis=0)] * 2))


@worth(0.5, "a single key gets all the weight", target=ATTENTION)
def test_attention_over_a_single_key(student, rng):
    Q, K, V = random_qkv(rng, (3, 1, 4, 2))
    far = Q * 4000 / np.abs(Q @ K.T).max()  # a score of ±2000, whose exponential is infinite or 0
    for output, weights in attend_many(student, [(Q, K, V), (far, K, V), (-far, K, V)]):
        assert_close(weights, np.ones((3, 1)))
        assert_close(output, np.repeat(V, 3, axis=0))


@worth(1, "each element of a batch gives the same result as it does alone", target=ATTENTION)
def test_attention_of_a_batch(student, rng):
    Q, K, V = random_qkv(rng, (3, 4, 2, 5), (3,))
    mask = np.array([[[1, 1, 0, 1]], [[1, 0, 1, 1]], [[0, 1, 1, 1]]])  # (3, 1, 4)
    whole, masked = attend_many(student, [(Q, K, V), (Q, K, V, mask)])
    alone = attend_many(student, [(Q[b], K[b], V[b]) for b in range(3)])
    alone_masked = attend_many(student, [(Q[b], K[b], V[b], mask[b]) for b in range(3)])
    for b in range(3):
        assert_rows_sum_to_one(alone[b][1], (3, 4), ties=False)
        assert_attends((whole[0][b], whole[1][b]), *alone[b], AGAIN, of=f"element {b}:")
        assert_attends((masked[0][b], masked[1][b]), *alone_masked[b], AGAIN, of=f"element {b}, masked:")


@worth(1, "attention with masks is right", target=ATTENTION)
def test_attention_with_masks_agrees_with_the_oracle(student, rng, shown):
    flat, batch = random_qkv(rng, (4, 5, 3, 2)), random_qkv(rng, (4, 5, 3, 2), (2,))
    random = mixed_mask(rng, (2, 4, 5))
    random[..., 0, :], random[1, 2, :], random[..., 3, 4] = 0, 0, 1
    cases = [(*flat, random[0]), (*flat, random[1].astype(bool)), (*batch, random), (*batch, random[1].astype(float))]
    cases += [(*random_qkv(rng, (6, 6, 3, 2)), 1 - np.eye(6))]  # no token sees itself
    for case, pair in zip(cases, attend_many(student, cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"mask {case[3].shape} of {case[3].dtype}:")
    seen = [arguments(*SENTENCE, np.tri(5)), arguments(*SENTENCE, mask=np.tri(5))]
    shown(student, ATTENTION, *seen, where=lambda call: is_float64(call) and is_masked(call))


@worth(1, "all causal weights of the sentence match the lesson's table", target=ATTENTION)
def test_attention_causal_sentence(student):
    causal = [
        [1, 0, 0, 0, 0],
        [0.8176, 0.1824, 0, 0, 0],
        [0.2327, 0.3837, 0.3837, 0, 0],
        [0.2350, 0.2350, 0.1425, 0.3875, 0],
        [0.1892, 0.1892, 0.1892, 0.1892, 0.2430],
    ]
    ((output, weights),) = attend_many(student, [(*SENTENCE, np.tri(5, dtype=bool))])
    assert_close(weights, np.array(causal), PRINTED)
    assert_close(output[0], SENTENCE[2][0], of="The sees only itself")


@worth(1, "a blocked key has the same effect as a missing key", target=ATTENTION)
def test_attention_without_the_blocked_keys(student, rng):
    Q, K, V = random_qkv(rng, (3, 5, 4, 2))
    mask = np.array([[1, 0, 1, 1, 0]])
    kept = [0, 2, 3]
    other_k, other_v = K.copy(), V.copy()
    other_k[1], other_k[4] = 1e5 * Q[0], -40.0  # the first is by far the best match of query 0
    other_v[[1, 4]] = 1e3
    masked, changed, short = attend_many(student, [(Q, K, V, mask), (Q, other_k, other_v, mask), (Q, K[kept], V[kept])])
    assert_close(masked[1][:, [1, 4]], np.zeros((3, 2)), of="weights of blocked keys")
    assert_close(masked[1][:, kept], short[1], of="weights of the other keys")
    assert_close(masked[0], short[0], of="the output")
    assert_attends(changed, *masked, of="other numbers in the blocked keys:")
    Q, K = integers(rng, -2, 3, (3, 4)), integers(rng, -2, 3, (5, 4))
    Q[:, 0], K[:, 0] = 1024, np.where(mask[0], -2048, 0)  # every allowed score is below -1e6
    masked, short = attend_many(student, [(Q, K, V, mask), (Q, K[kept], V[kept])])
    assert_close(masked[1][:, kept], short[1], of="weights of very low scores")
    assert_rows_sum_to_one(masked[1], (3, 5), ties=False)


@worth(1, "a mask of bool, int or float works, and it broadcasts to the weights", target=ATTENTION)
def test_attention_mask_kinds(student, rng):
    Q, K, V = random_qkv(rng, (5, 4, 2, 2))  # sizes of no other check: it may have left scores behind
    Q = Q / np.abs(Q @ K.T).max()  # with large scores, weights would be 0 or 1 and show no change
    row, column = np.array([1, 0, 1, 1]), np.array([[1], [0], [1], [1], [0]])
    kinds = [row, row[None], row.astype(bool), row.astype(float)[None], np.tile(row.astype(np.float32), (5, 1))]
    pairs = attend_many(student, [(Q, K, V, np.tile(row, (5, 1))), *((Q, K, V, mask) for mask in kinds)])
    assert_rows_sum_to_one(pairs[0][1], (5, 4), ties=False)
    assert_close(pairs[0][1][:, 1], np.zeros(5), of="weights of the blocked key")
    for mask, pair in zip(kinds, pairs[1:], strict=True):
        assert_attends(pair, *pairs[0], AGAIN, of=f"mask {mask.shape} of {mask.dtype}:")
    plain, open_mask, by_query = attend_many(student, [(Q, K, V), (Q, K, V, np.ones((5, 4))), (Q, K, V, column)])
    assert_attends(open_mask, *plain, AGAIN, of="a mask of ones:")
    assert_attends(by_query, plain[0] * column, plain[1] * column, AGAIN, of="a mask of one column:")


@worth(0.5, "a mask broadcasts over a batch, and can be passed as mask=", target=ATTENTION)
def test_attention_mask_over_a_batch(student, rng):
    Q, K, V = random_qkv(rng, (3, 3, 2, 2), (3,))
    full = np.array([np.tri(3), np.tri(3).T, np.eye(3)])
    same = np.tile(full[0], (3, 1, 1))
    calls = [arguments(Q, K, V, mask=mask) for mask in (full, same, full[0], full[:1])]
    results = [attended(v, (Q, K, V)) for v in student.scaled_dot_product_attention.call_many(calls)]
    assert_close(results[0][1] * (1 - full), np.zeros((3, 3, 3)), of="weights of blocked keys")
    assert_close(results[0][0][2], V[2], of="each token sees only itself")
    assert_attends(results[2], *results[1], AGAIN, of="a mask (3, 3) for all:")
    assert_attends(results[3], *results[1], AGAIN, of="a mask (1, 3, 3) for all:")
    row = np.array([1, 0, 1])  # there are as many queries as keys, but a row of a mask is still about the keys
    flat, batch = student.scaled_dot_product_attention.call_many(
        [arguments(Q[0], K[0], V[0], row), arguments(Q, K, V, row)]
    )
    assert_close(attended(flat, (Q[0], K[0], V[0]))[1][:, 1], np.zeros(3), of="a mask (3,): the blocked key")
    assert_close(attended(batch, (Q, K, V))[1][..., 1], np.zeros((3, 3)), of="a mask (3,) for a batch")


@worth(1, "a query whose keys are all blocked has weights of 0 and an output of 0", target=ATTENTION)
def test_attention_of_a_blocked_query(student, rng):
    Q, K, V = random_qkv(rng, (3, 4, 2, 2))
    mask = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    (output, weights), nothing = attend_many(student, [(Q, K, V, mask), (Q, K, V, np.zeros((3, 4), dtype=bool))])
    assert_close(weights[1], np.zeros(4), of="weights of the blocked query")
    assert_close(output[1], np.zeros(2), of="output of the blocked query")
    assert_close(weights[2], np.array([0.0, 1, 0, 0]), of="a query with one key left")
    assert_rows_sum_to_one(weights[[0, 2]], (2, 4), ties=False)
    assert_attends(nothing, np.zeros((3, 2)), np.zeros((3, 4)), of="everything blocked:")


@worth(0.5, "the weights are right when the largest score is blocked", target=ATTENTION)
def test_attention_with_a_large_blocked_score(student):
    Q, K = np.array([[10.0, 0, 0, 0]]), np.array([[800.0, 0, 0, 0], [0, 0, 0, 0], [0.2, 0, 0, 0]])
    low_q, low_k = np.array([[1024.0, 0, 0, 0]]), np.array([[0.0, 0, 0, 0], [-2048, 0, 0, 0], [-2048, 0, 0, 0]])
    low_k[2, 0] += 2**-9  # the two allowed scores are 1 apart, and below -1e6
    V, mask = np.array([[1.0], [0], [1]]), np.array([[0, 1, 1]])
    share = 1 / (1 + np.exp(-1.0))
    for output, weights in attend_many(student, [(Q, K, V, mask), (low_q, low_k, V, mask)]):
        assert_close(weights, np.array([[0, 1 - share, share]]))
        assert_close(output, np.array([[share]]))


@worth(1, "attention gives the right values for float32 and for integers", target=ATTENTION)
def test_attention_of_other_dtypes(student, rng, shown):
    Q, K, V = (rng.integers(-3, 4, size=size) for size in [(3, 4), (5, 4), (5, 2)])
    V[0] = [2, -3]
    kinds = [np.float32, np.int64, np.int32]
    cases = [tuple(x.astype(kind) for x in (Q, K, V)) for kind in kinds]
    expected = oracle_attention(Q, K, V)
    for kind, pair in zip(kinds, attend_many(student, cases), strict=True):
        dtype = np.float32 if kind is np.float32 else np.float64
        assert_attends(pair, *(x.astype(dtype) for x in expected), of=f"{kind.__name__}:")
    mixed = [(Q, K / 4, V / 2), (Q / 4, K, V / 2), (Q / 4, K / 2, V)]
    for case, pair in zip(mixed, attend_many(student, mixed), strict=True):
        assert_attends(pair, *oracle_attention(*case), of="integers and floats together:")
    seen = [arguments(*WHOLE_SENTENCE), arguments(*WHOLE_SENTENCE, mask=np.tri(5))]
    shown(student, ATTENTION, *seen, where=lambda call: not is_float64(call))


@worth(1, "if sizes of Q, K and V disagree, the ValueError names both", target=ATTENTION)
def test_attention_refuses_sizes_that_disagree(student, rng):
    d = int(rng.integers(7, 20))
    widths = [((2, 3), (4, 6), (4, 5)), ((2, d), (4, d - 1), (4, 5)), ((2, 2, 3), (2, 4, 6), (2, 4, 5))]
    lengths = [((2, 3), (4, 3), (6, 5)), ((2, 3), (d, 3), (d - 1, 5)), ((2, 2, 3), (2, 6, 3), (2, 4, 5))]
    for sizes, numbers in [(s, (s[0][-1], s[1][-1])) for s in widths] + [(s, (s[1][-2], s[2][-2])) for s in lengths]:
        arrays = [np.ones(size) for size in sizes]
        assert_raises(ValueError, lambda a=arrays: student.scaled_dot_product_attention(*a), *numbers)


@worth(0.75, "the result of attention does not depend on earlier calls", target=ATTENTION)
def test_attention_does_not_remember(student, rng):
    case, other = random_qkv(rng, (6, 7, 2, 2)), random_qkv(rng, (6, 7, 2, 2))  # sizes of no other check
    mask = np.tri(6, 7)
    pairs = attend_many(student, [case, (*case, mask), other, (*other, 1 - mask), case, (*case, mask)])
    assert_rows_sum_to_one(pairs[0][1], (6, 7), ties=False)
    assert_attends(pairs[4], *pairs[0], AGAIN, of="the same call again:")
    assert_attends(pairs[5], *pairs[1], AGAIN, of="the same masked call again:")


@worth(0.5, "attention returns float32 for float32, and float64 for float64 and integers", target=ATTENTION)
def test_attention_dtype(student):
    Q, K, V = np.array([[1, 2], [0, 1]]), np.array([[1, 1], [2, 0], [3, 1]]), np.array([[1, 2], [3, 4], [5, 6]])
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    calls = [arguments(*(x.astype(k) for x in (Q, K, V)), mask) for k in kinds for mask in (None, np.tri(2, 3))]
    values = student.scaled_dot_product_attention.call_many(calls)
    for value, expected in zip(values, (kind for kind in kinds.values() for _ in range(2)), strict=True):
        attended(value, (Q, K, V))
        assert_dtype(value[0], expected)
        assert_dtype(value[1], expected)


# reflect ------------------------------------------------------------------------------------------------


@worth(1.5, "the number of multiply-adds for 512 tokens of width 64 is right", target="reflect")
def test_reflect_multiply_adds(student):
    assert_close(student.REFLECT_MULTIPLY_ADDS_N512_D64, 33554432)


@worth(1.5, "the cost ratio for twice as many tokens is right", target="reflect")
def test_reflect_cost_ratio(student):
    assert_close(student.REFLECT_COST_RATIO_WHEN_N_DOUBLES, 4)

"""Hidden suite of 03_attention. Its oracles use einsum and logaddexp in float64, not the solution's method."""

import itertools
import re

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
    worth,
)

PROJECT, CLASS, FUNCTION = "project_qkv", "ScaledDotProductAttention", "scaled_dot_product_attention"
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
HUNDREDTHS = Tolerance(0.0, 6e-3)  # published with two
WHOLE = Tolerance(1e-10, 0.0)  # finds a small number that is added to a sum of 1: 1e-12 passes, 1e-9 does not
NEAR = Tolerance(1e-9, 1e-11)  # differences of numbers near 1 have an error of about 1e-15

SENTENCE = (
    np.array([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
    np.array([[0.0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]]),
    np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]),
)
TOKENS = ["The", "cat", "sat", "on", "mat"]
SCORES = np.array([[0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5]])
WEIGHTS = np.array(
    [
        [0.1095, 0.2976, 0.1805, 0.1805, 0.2318],
        [0.4026, 0.0898, 0.2442, 0.1481, 0.1153],
        [0.1519, 0.2505, 0.2505, 0.1519, 0.1951],
        [0.1903, 0.1903, 0.1154, 0.3137, 0.1903],
        [0.1892, 0.1892, 0.1892, 0.1892, 0.2430],
    ]
)
OUTPUT = np.array(
    [
        [0.2254, 0.4135, 0.2964, 0.2964],
        [0.4602, 0.1475, 0.3018, 0.2058],
        [0.2495, 0.3481, 0.3481, 0.2495],
        [0.2854, 0.2854, 0.2106, 0.4089],
        [0.3108, 0.3108, 0.3108, 0.3108],
    ]
)
CAUSAL = np.array(
    [
        [1, 0, 0, 0, 0],
        [0.8176, 0.1824, 0, 0, 0],
        [0.2327, 0.3837, 0.3837, 0, 0],
        [0.2350, 0.2350, 0.1425, 0.3875, 0],
        [0.1892, 0.1892, 0.1892, 0.1892, 0.2430],
    ]
)

# The sentence as in the stub, where the queries are whole numbers, and the two examples after it.
STUB = (SENTENCE[0].astype(int), *SENTENCE[1:])
PAGE = (np.eye(2), np.ones((3, 2), dtype=int), np.ones((3, 2), dtype=int))
STREET = (np.ones((1, 2), dtype=int), np.ones((3, 2)), np.ones((3, 2)))

# Four tokens whose 56 numbers all differ: from each other, from the entries and from whole and half numbers.
NAMES = ["dax", "wug", "blick", "fep"]
WUGS = (
    np.array([[0.5, -0.8, 1.9], [-2.1, 1.4, 0.4], [-1.6, -1.1, -1.7], [0.0, 1.3, -1.2]]),
    np.array([[-1.8, -0.4, -0.9], [-1.2, -2.0, 0.1], [-1.2, -0.3, -0.7], [-0.8, 0.1, -0.6]]),
    np.array([[-1.2, -1.0], [1.6, -3.8], [1.7, 1.7], [-2.7, -1.5]]),
)
WUGS_TOLD = {
    "raw scores": [[-2.29, 1.19, -1.69, -1.62], [2.86, -0.24, 1.82, 1.58], [4.85, 3.95, 3.44, 2.19]]
    + [[0.56, -2.72, 0.45, 0.85]],
    "scaled scores": [[-1.3221, 0.687, -0.9757, -0.9353], [1.6512, -0.1386, 1.0508, 0.9122]]
    + [[2.8001, 2.2805, 1.9861, 1.2644], [0.3233, -1.5704, 0.2598, 0.4907]],
    "weights": [[0.0882, 0.6574, 0.1247, 0.1298], [0.456, 0.0761, 0.2501, 0.2178], [0.4438, 0.264, 0.1966, 0.0956]]
    + [[0.3057, 0.046, 0.2869, 0.3614]],
    "output": [[0.8075, -2.5691], [-0.5881, -0.6467], [-0.034, -1.256], [-0.7813, -0.535]],
}

# Leading dimensions, then n_q, n_k, d_k, d_v: all four different, the smallest of each, and all the same. If the batch
# is as large as n_k and d_k, an array with its axes in the wrong order has the right shape.
FLAT = [(3, 5, 4, 2), (5, 2, 3, 6), (1, 4, 2, 3), (4, 1, 3, 2), (2, 3, 1, 1), (1, 1, 1, 1), (4, 4, 4, 4)]
FLAT += [(2, 300, 2, 1)]
SIZES = [((), sizes) for sizes in FLAT]
STACKED = [
    ((2,), (3, 5, 4, 2)),
    ((4,), (4, 4, 4, 4)),
    ((3,), (2, 3, 3, 5)),
    ((1,), (3, 2, 4, 5)),
    ((2, 3), (4, 3, 3, 2)),
    ((3, 2), (2, 5, 4, 3)),
    ((2, 2), (2, 2, 2, 2)),
    ((2, 1, 2), (3, 4, 2, 5)),
]


def oracle_projection(X, W):
    return np.einsum("...nm,mk->...nk", np.asarray(X, dtype=np.float64), np.asarray(W, dtype=np.float64))


def is_float64(call):
    """Whether everything in a call is float64, except the mask of attention."""
    return all(x.dtype == np.float64 for x in call.args[:3])


def is_masked(call):
    return len(call.args) > 3


def oracle_scores(Q, K):
    return np.einsum("...id,...jd->...ij", np.asarray(Q, dtype=np.float64), np.asarray(K, dtype=np.float64))


def oracle_weights(scaled, mask=None):
    """Compute the softmax by logaddexp: weights are exp(score - log of the sum of exp), with no maximum subtracted."""
    scaled = np.asarray(scaled, dtype=np.float64)
    scaled = np.where(np.ones((), dtype=bool) if mask is None else np.asarray(mask) != 0, scaled, -np.inf)
    norms = np.logaddexp.reduce(scaled, axis=-1, keepdims=True)
    return np.exp(scaled - np.where(np.isneginf(norms), 0.0, norms))


def oracle_output(weights, V):
    return np.einsum("...ij,...jc->...ic", np.asarray(weights, dtype=np.float64), np.asarray(V, dtype=np.float64))


def oracle_attention(Q, K, V, mask=None):
    weights = oracle_weights(oracle_scores(Q, K) * float(np.shape(Q)[-1]) ** -0.5, mask)
    return oracle_output(weights, V), weights


def random_qkv(rng, sizes, lead=()):
    n_q, n_k, d_k, d_v = sizes
    return (
        rng.normal(scale=1.5, size=(*lead, n_q, d_k)),
        rng.normal(scale=1.5, size=(*lead, n_k, d_k)),
        rng.normal(size=(*lead, n_k, d_v)),
    )


def random_masks(rng, shape):
    """Return a mask of zeros and ones that allows a key in every row. Of three rows or more, the last is open.

    A row whose keys are all blocked has checks of its own: a mistake there should not cost all the others.
    """
    mask = rng.integers(0, 2, size=shape)
    mask[..., -1], mask[..., 0] = 0, 1
    if shape[-2] > 2:
        mask[..., -1, :] = 1
    return mask


def integers(rng, low, high, size):
    """Return whole numbers as floats, whose sums and products are exact."""
    return rng.integers(low, high, size=size).astype(np.float64)


def heads(student, *widths):
    """Make one instance of the student's class for each width, all before the first is used."""
    made = student.ScaledDotProductAttention.call_many([arguments(width) for width in widths])
    assert all(hasattr(one, "call_many") for one in made), (
        "ScaledDotProductAttention(d_k) should give an object with methods"
    )
    return made


def head(student, d_k):
    return heads(student, d_k)[0]


def many(method, cases):
    """Call a method, or a function, on every case in one round trip."""
    return method.call_many([arguments(*case) for case in cases])


def projected(value, X, W_q, W_k, W_v, of="the call"):
    """Return the student's Q, K and V as finite float64 arrays of the right shapes, or fail."""
    assert type(value) is tuple, f"{of}: expected a tuple of the three arrays Q, K and V"
    assert len(value) == 3, f"{of}: expected a tuple of the three arrays Q, K and V, got {len(value)} things"
    widths = [W_q.shape[1], W_k.shape[1], W_v.shape[1]]
    return [
        array_like(one, (*X.shape[:-1], width), of=f"{of}: {name}")
        for one, width, name in zip(value, widths, "QKV", strict=True)
    ]


def project_many(student, cases):
    values = many(student.project_qkv, cases)
    return [projected(value, *case, of=f"case {i}") for i, (value, case) in enumerate(zip(values, cases, strict=True))]


def attended(value, qkv, of="the call"):
    """Return the student's output and weights as finite float64 arrays of the right shapes, or fail."""
    assert type(value) is tuple, f"{of}: expected the pair (output, weights)"
    assert len(value) == 2, f"{of}: expected the pair (output, weights), got {len(value)} things"
    Q, K, V = qkv
    return (
        array_like(value[0], (*Q.shape[:-1], V.shape[-1]), of=f"{of}: the output"),
        array_like(value[1], (*Q.shape[:-1], K.shape[-2]), of=f"{of}: the weights"),
    )


def attend_many(call, cases):
    """Call `forward` or the function on (Q, K, V) or (Q, K, V, mask) of each case, and return the checked pairs."""
    values = many(call, cases)
    return [attended(value, case[:3], f"case {i}") for i, (value, case) in enumerate(zip(values, cases, strict=True))]


def forward_many(student, cases):
    """Run `forward` of an instance with each case's width. Cases of the same width share an instance."""
    widths = sorted({case[0].shape[-1] for case in cases})
    pairs = [None] * len(cases)
    for width, one in zip(widths, heads(student, *widths), strict=True):
        places = [i for i, case in enumerate(cases) if case[0].shape[-1] == width]
        for i, pair in zip(places, attend_many(one.forward, [cases[i] for i in places]), strict=True):
            pairs[i] = pair
    return pairs


def assert_attends(pair, output, weights, tolerance=None, of=""):
    assert_close(pair[1], weights, tolerance, of=f"{of} weights".strip())
    assert_close(pair[0], output, tolerance, of=f"{of} output".strip())


# project_qkv --------------------------------------------------------------------------------------------


def random_projections(rng, lead, n, d_model, d_k, d_v):
    return (
        rng.normal(size=(*lead, n, d_model)),
        rng.normal(size=(d_model, d_k)),
        rng.normal(size=(d_model, d_k)),
        rng.normal(size=(d_model, d_v)),
    )


@worth(1, "project_qkv is right for many shapes", target=PROJECT)
def test_projections_agree_with_the_oracle(student, rng, shown):
    flat = [(3, 5, 4, 2), (2, 3, 6, 4), (1, 4, 2, 3), (4, 1, 3, 2), (3, 2, 1, 5), (1, 1, 1, 1), (3, 3, 3, 3)]
    sizes = [((), s) for s in flat] + [((2,), flat[0]), ((3,), flat[6]), ((2, 3), flat[1]), ((1, 3), flat[6])]
    cases = [random_projections(rng, lead, *s) for lead, s in sizes]
    for case, value in zip(cases, project_many(student, cases), strict=True):
        for name, one, W in zip("QKV", value, case[1:], strict=True):
            assert_close(one, oracle_projection(case[0], W), of=f"X {case[0].shape}, W {W.shape}: {name}")
    lesson = arguments(np.ones((2, 3)), np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 1)))
    shown(student, PROJECT, lesson, where=is_float64)


@worth(1, "project_qkv is right for two tokens computed by hand", target=PROJECT)
def test_projections_by_hand(student):
    X = np.array([[1.0, 2, 0], [0, -1, 3]])
    W_q, W_k = np.array([[1.0, 0], [2, 1], [0, 4]]), np.array([[0.0, 1], [1, -1], [5, 2]])
    W_v = np.array([[1.0, 2, 3, 4], [0, 1, 0, -1], [2, 0, 0.5, 1]])
    by_name = arguments(X=X, W_q=W_q, W_k=W_k, W_v=W_v)
    for value in student.project_qkv.call_many([arguments(X, W_q, W_k, W_v), by_name]):
        Q, K, V = projected(value, X, W_q, W_k, W_v)
        assert_close(Q, np.array([[5.0, 2], [-2, 11]]), of="Q")
        assert_close(K, np.array([[2.0, -1], [14, 7]]), of="K")
        assert_close(V, np.array([[1.0, 4, 3, 2], [6, -1, 1.5, 4]]), of="V")


@worth(1.5, "a token with one 1 and zeros elsewhere picks one row of each matrix", target=PROJECT)
def test_projections_of_unit_vectors(student, rng):
    W_q, W_k, W_v = (integers(rng, 1, 90, (4, 4)) for _ in range(3))
    narrow = integers(rng, 1, 90, (4, 3))
    tokens = derangement(rng, 4)
    X = np.eye(4)[tokens]
    cases = [(X, W_q, W_k, W_v), (X[:2], W_q, W_k, narrow), (np.stack([X, X[::-1]]), W_q, W_k, W_v)]
    whole, two, batch = project_many(student, cases)
    for name, one, W in zip("QKV", whole, (W_q, W_k, W_v), strict=True):
        assert_close(one, W[tokens], of=name)
    for name, one, W in zip("QKV", two, (W_q, W_k, narrow), strict=True):
        assert_close(one, W[tokens[:2]], of=f"of two tokens: {name}")
    for name, one, W in zip("QKV", batch, (W_q, W_k, W_v), strict=True):
        assert_close(one, np.stack([W[tokens], W[tokens[::-1]]]), of=f"of a batch: {name}")


@worth(1, "each matrix affects only its own result, and in proportion", target=PROJECT)
def test_projections_keep_to_their_matrices(student, rng):
    X, A, B, C = integers(rng, -5, 6, (3, 4)), *(integers(rng, 1, 9, (4, 4)) for _ in range(3))
    plain, turned, scaled = project_many(student, [(X, A, B, C), (X, C, A, B), (X, 3 * A, -B, C + A)])
    for name, one, other in zip("QKV", turned, (plain[2], plain[0], plain[1]), strict=True):
        assert_close(one, other, of=f"matrices swapped: {name}")
    for name, one, other in zip("QKV", scaled, (3 * plain[0], -plain[1], plain[2] + plain[0]), strict=True):
        assert_close(one, other, of=f"other matrices: {name}")
    (zero,) = project_many(student, [(0 * X, A, B, C)])
    for name, one in zip("QKV", zero, strict=True):
        assert_close(one, np.zeros((3, 4)), of=f"tokens of zeros: {name}")


@worth(0.6, "each token and each element of a batch gives the same projections as it does alone", target=PROJECT)
def test_projections_of_a_batch(student, rng):
    X, *W = random_projections(rng, (2, 3), 3, 4, 3, 5)
    whole, one, none = project_many(student, [(X, *W), (X[1], *W), (X[1, 2], *W)])
    rows = project_many(student, [(X[1, 2, i : i + 1], *W) for i in range(3)])
    for name, stacked, batch, flat, *single in zip("QKV", whole, one, none, *rows, strict=True):
        assert_close(flat, np.concatenate(single), of=f"three tokens: {name}")
        assert_close(batch[2], flat, of=f"one leading dimension: {name}")
        assert_close(stacked[1], batch, of=f"two leading dimensions: {name}")


@worth(0.5, "project_qkv gives the right values for float32 and for integers", target=PROJECT)
def test_projections_of_other_dtypes(student, shown):
    X, W_q, W_k = np.array([[3, -2], [1, 5]]), np.array([[1, 4], [2, -1]]), np.array([[0, 3], [-2, 1]])
    W_v = np.array([[2, 1, 7], [3, -4, 1]])
    for kind in (np.float32, np.int64, np.int32):
        case = tuple(x.astype(kind) for x in (X, W_q, W_k, W_v))
        (value,) = project_many(student, [case])
        expected = [[-1, 14], [11, -1]], [[4, 7], [-10, 8]], [[0, 11, 19], [17, -19, 12]]
        for name, one, numbers in zip("QKV", value, expected, strict=True):
            assert_close(one, np.array(numbers, dtype=np.float64), of=f"{kind.__name__}: {name}")
    for value in project_many(student, [(X, W_q / 4, W_k / 4, W_v / 4), (X / 4, W_q, W_k, W_v)]):
        for name, one, numbers in zip("QKV", value, expected, strict=True):
            assert_close(one, np.array(numbers) / 4, of=f"integers and floats together: {name}")
    shown(student, PROJECT, where=lambda call: not is_float64(call))


@worth(0.3, "project_qkv does not depend on earlier calls", target=PROJECT)
def test_projections_do_not_remember(student, rng):
    square, wide = random_projections(rng, (), 3, 3, 3, 3), random_projections(rng, (2,), 3, 3, 3, 5)
    other = random_projections(rng, (), 3, 3, 3, 3)
    cases = [square, wide, other, square, tuple(x.astype(np.float32) for x in square)]
    values = project_many(student, cases)
    for name, one, again in zip("QKV", values[0], values[3], strict=True):
        assert_close(again, array_like(one, (3, 3)), of=f"the same call again: {name}")
    for name, one, by_hand in zip("QKV", values[2], other[1:], strict=True):
        assert_close(one, sum(other[0][:, i : i + 1] * by_hand[i] for i in range(3)), of=f"other matrices: {name}")


@worth(0.3, "project_qkv returns float32 for float32, and float64 for float64 and integers", target=PROJECT)
def test_projections_dtype(student):
    case = (
        np.array([[1, 2], [0, 1], [3, 1]]),
        np.array([[1, 1], [2, 0]]),
        np.array([[0, 1], [1, 1]]),
        np.array([[2], [1]]),
    )
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    for value, expected in zip(
        many(student.project_qkv, [tuple(x.astype(kind) for x in case) for kind in kinds]), kinds.values(), strict=True
    ):
        projected(value, *case)
        for one in value:
            assert_dtype(one, expected)


# compute_scores -----------------------------------------------------------------------------------------


@worth(1, "compute_scores is right for many shapes", target=CLASS)
def test_scores_agree_with_the_oracle(student, rng, shown):
    cases = [random_qkv(rng, sizes, lead)[:2] for lead, sizes in SIZES + STACKED]
    for (Q, K), one in zip(cases, heads(student, *(Q.shape[-1] for Q, _ in cases)), strict=True):
        assert_close(one.compute_scores(Q, K), oracle_scores(Q, K), of=f"Q {Q.shape}, K {K.shape}")
    batch = arguments(np.ones((2, 5, 4)), np.ones((2, 5, 4)))
    shown(student, f"{CLASS}.compute_scores", batch, init=(4,), where=is_float64)


@worth(1, "row i of the scores belongs to query i and column j to key j", target=CLASS)
def test_scores_follow_their_tokens(student, rng):
    Q, K = integers(rng, -5, 6, (3, 4)), integers(rng, -5, 6, (5, 4))
    rows, columns = derangement(rng, 3), derangement(rng, 5)
    cases = [(Q, K), (Q[rows], K), (Q, K[columns]), (K, Q), (Q[:2], K), (Q, np.eye(4)), (Q, np.eye(4)[1:2]), (3 * Q, K)]
    one = head(student, 4)
    plain, by_row, by_column, swapped, fewer, units, unit, tripled = many(one.compute_scores, cases)
    plain = array_like(plain, (3, 5))
    assert_close(by_row, plain[rows], of="queries in another order")
    assert_close(by_column, plain[:, columns], of="keys in another order")
    assert_close(swapped, plain.T, of="queries and keys swapped")
    assert_close(fewer, plain[:2], of="only the first two queries")
    assert_close(units, Q, of="unit vectors as keys")
    assert_close(unit, Q[:, 1:2], of="one unit vector as key")
    assert_close(tripled, 3 * plain, of="queries times three")
    assert_close(one.compute_scores(K=SENTENCE[1], Q=SENTENCE[0]), SCORES, of="the sentence")


@worth(1, "each element of a batch has its own scores, with one or two leading dimensions", target=CLASS)
def test_scores_of_a_batch(student, rng):
    one = head(student, 3)
    # The batch is as large as n_k and d_k, so axes in the wrong order have the right shape.
    Q, K = integers(rng, -5, 6, (3, 3, 4, 3)), integers(rng, -5, 6, (3, 3, 3, 3))
    whole, batch, *flat = many(one.compute_scores, [(Q, K), (Q[1], K[1]), *((Q[1, b], K[1, b]) for b in range(3))])
    batch = array_like(batch, (3, 4, 3))
    for b in range(3):
        assert_close(batch[b], array_like(flat[b], (4, 3)), of=f"element {b} of a batch")
    assert_close(array_like(whole, (3, 3, 4, 3))[1], batch, of="with two leading dimensions")


# scale_scores -------------------------------------------------------------------------------------------


@worth(1, "scale_scores divides by the root of the constructor's d_k, whatever the shape of the scores", target=CLASS)
def test_scale_of_known_widths(student, rng, shown):
    roots = {1: 1.0, 2: 1.4142135623730951, 4: 2.0, 7: 2.6457513110645907, 64: 8.0, 512: 22.627416997969522}
    shapes = [(3, 5), (4, 4), (1, 1), (2, 3, 4), (2, 2, 1, 7), (64, 2)]
    scores = [rng.normal(scale=3.0, size=shape) for shape in shapes]
    for (d_k, root), one in zip(roots.items(), heads(student, *roots), strict=True):
        for raw, value in zip(scores, many(one.scale_scores, [(raw,) for raw in scores]), strict=True):
            assert_close(value, raw / root, of=f"d_k = {d_k}, scores {raw.shape}")
    seen = [arguments(np.ones(5)), arguments(np.ones((5, 5)))]
    shown(student, f"{CLASS}.scale_scores", *seen, init=(4,), where=is_float64)


@worth(1, "scaled scores of random vectors have a variance of 1", target=CLASS)
def test_scale_makes_the_variance_one(student):
    widths = [8, 3]
    for d_k, one in zip(widths, heads(student, *widths), strict=True):
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d_k)))
        scores = signs.sum(axis=1, keepdims=True)  # every dot product of vectors with entries ±1
        scaled = array_like(one.scale_scores(scores=scores), scores.shape)
        assert_close(float(np.var(scaled)), 1.0, of=f"the variance with d_k = {d_k}")
        assert_close(np.sign(scaled), np.sign(scores), of="the signs")


@worth(0.5, "each of two instances uses its own d_k", target=CLASS)
def test_instances_are_independent(student):
    scores = np.array([[8.0, -4], [2, 6]])
    narrow, wide = student.ScaledDotProductAttention.call_many([arguments(4), arguments(d_k=16)])
    assert all(hasattr(one, "call_many") for one in (narrow, wide)), "the class should give an object with methods"
    half = array_like(narrow.scale_scores(scores), (2, 2))
    quarter = array_like(wide.scale_scores(scores), (2, 2))
    assert_close(narrow.scale_scores(scores), half, of="the first again")
    assert_close(half, scores / 2, of="d_k = 4")
    assert_close(quarter, half / 2, of="d_k = 16")


# compute_weights ----------------------------------------------------------------------------------------


@worth(1, "compute_weights is right for many shapes", target=CLASS)
def test_weights_agree_with_the_oracle(student, rng, shown):
    shapes = [(*lead, n_q, n_k) for lead, (n_q, n_k, _, _) in SIZES + STACKED]
    cases = [(rng.normal(scale=2.0, size=shape),) for shape in shapes]
    for (scaled,), value in zip(cases, many(head(student, 4).compute_weights, cases), strict=True):
        assert_close(value, oracle_weights(scaled), of=f"scores {scaled.shape}")
    seen = [arguments(np.ones(shape)) for shape in [(2, 5), (5, 5), (2, 5, 5)]]
    shown(
        student,
        f"{CLASS}.compute_weights",
        *seen,
        init=(4,),
        where=lambda call: is_float64(call) and len(call.args) == 1,
    )


@worth(1, "compute_weights is right with masks", target=CLASS)
def test_masked_weights_agree_with_the_oracle(student, rng, shown):
    shapes = [((4, 5), (4, 5)), ((4, 4), (4, 4)), ((3, 4), (4,)), ((3, 4), (3, 1)), ((2, 4, 5), (4, 5))]
    shapes += [((3, 3, 3), (3, 3, 3)), ((3, 4, 5), (3, 1, 5)), ((2, 3, 4, 5), (2, 1, 1, 5))]
    shapes += [((2, 2, 3, 3), (2, 1, 3, 3)), ((2, 3, 3, 3), (3, 3, 3)), ((2, 3, 3, 3), (1, 3, 1, 3))]
    # There are as many sentences as queries, or as heads: the position of a mask's axis counts, not its size.
    shapes += [((4, 4, 5), (4, 5)), ((4, 4, 4), (4, 4)), ((4, 2, 4, 5), (4, 5)), ((3, 3, 4, 5), (3, 4, 5))]
    shapes += [((3, 4, 4), (1, 4)), ((4, 4), (4,)), ((2, 4, 4), (4,))]
    cases = []
    for (scores, mask), kind in zip(shapes, itertools.cycle([bool, np.int64, np.float64, np.float32]), strict=False):
        allowed = random_masks(rng, mask) if len(mask) > 1 else rng.permutation([1, 0, 1, 0])
        cases.append((rng.normal(scale=2.0, size=scores), allowed.astype(kind)))
    cases.append((rng.normal(size=(6, 6)), 1 - np.eye(6)))  # no token sees itself
    for (scaled, mask), value in zip(cases, many(head(student, 4).compute_weights, cases), strict=True):
        assert_close(
            value, oracle_weights(scaled, mask), of=f"scores {scaled.shape}, mask {mask.shape} of {mask.dtype}"
        )
    seen = [arguments(np.ones((n, 5)), mask) for n in (2, 5) for mask in (np.tri(n, 5), np.zeros((n, 5)))]
    shown(student, f"{CLASS}.compute_weights", *seen, init=(4,), where=lambda call: len(call.args) == 2)


@worth(
    0.75, "all weights of the sentence match the lesson's tables, without a mask and with a causal one", target=CLASS
)
def test_weights_of_the_sentence(student):
    one = head(student, 4)
    plain, causal = one.compute_weights.call_many(
        [arguments(SCORES / 2), arguments(scaled_scores=SCORES / 2, mask=np.tri(5, dtype=bool))]
    )
    assert_close(plain, WEIGHTS, PRINTED)
    assert_close(causal, CAUSAL, PRINTED, of="causal")


@worth(1, "the weights of each query of each sentence are 0 or above and sum to 1", target=CLASS)
def test_weights_sum_to_one(student, rng):
    cases = [(rng.normal(scale=2.0, size=shape),) for shape in [(3, 6), (4, 4), (2, 3, 4), (3, 3, 3), (2, 3, 4, 5)]]
    for (scaled,), weights in zip(cases, many(head(student, 9).compute_weights, cases), strict=True):
        assert_rows_sum_to_one(weights, scaled.shape)
        order = np.argsort(array_like(weights, scaled.shape), axis=-1)
        assert (order == np.argsort(scaled, axis=-1)).all(), "a larger score should have a larger weight"


@worth(0.75, "with two keys, a weight is the logistic function of the difference of the scores", target=CLASS)
def test_weights_over_two_keys(student, rng):
    gaps = rng.uniform(-3, 3, size=(2, 4, 3))
    scaled = np.stack([gaps + 2.0, np.full_like(gaps, 2.0)], axis=-1)  # (2, 4, 3, 2)
    share = 1 / (1 + np.exp(-gaps))
    expected = np.stack([share, 1 - share], axis=-1)
    one, two, three = many(head(student, 5).compute_weights, [(scaled[0, 0],), (scaled[0],), (scaled,)])
    assert_close(one, expected[0, 0], of="two dimensions")
    assert_close(two, expected[0], of="three dimensions")
    assert_close(three, expected, of="four dimensions")


@worth(1, "adding the same number to every score of a row changes no weight, however large the number is", target=CLASS)
def test_weights_do_not_mind_a_shift(student, rng):
    scaled = integers(rng, -4, 5, (4, 4))
    scaled[0, :2] = [3, 4]
    far = scaled + np.array([[5000.0], [-5000.0], [700.0], [-1e5]])
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]])
    cases = [(scaled,), (scaled + 3,), (far,), (far - 1000, np.ones((4, 4))), (scaled, mask), (far, mask)]
    plain, near, distant, low, masked, masked_far = many(head(student, 4).compute_weights, cases)
    assert_rows_sum_to_one(plain, (4, 4))
    assert np.ptp(plain[0]) > 1e-3, "all weights are the same, whatever the scores are"
    assert_close(near, array_like(plain, (4, 4)), of="all scores 3 higher")
    assert_close(distant, array_like(plain, (4, 4)), of="rows shifted by thousands")
    assert_close(low, array_like(plain, (4, 4)), of="rows shifted by thousands, with a mask of ones")
    assert_close(masked_far, array_like(masked, (4, 4)), of="rows shifted by thousands, with a mask")


@worth(1, "a blocked key has the same effect as a missing key, even if its score is the largest", target=CLASS)
def test_weights_without_the_blocked_keys(student, rng):
    scaled, mask, kept = rng.normal(size=(2, 3, 5)), np.array([1, 0, 1, 1, 0]), [0, 2, 3]
    large = scaled.copy()
    large[..., 1], large[..., 4] = 2000.0, -900.0
    cases = [(scaled, mask), (large, mask), (scaled[..., kept],), (scaled[0], mask), (scaled, np.tile(mask, (2, 3, 1)))]
    masked, changed, short, flat, full = many(head(student, 4).compute_weights, cases)
    masked = array_like(masked, (2, 3, 5))
    assert_close(masked[..., [1, 4]], np.zeros((2, 3, 2)), of="weights of blocked keys")
    assert_close(masked[..., kept], array_like(short, (2, 3, 3)), of="weights of the other keys")
    assert_close(changed, masked, of="other scores in the blocked keys")
    assert_close(flat, masked[0], of="two dimensions")
    assert_close(full, masked, of="a mask of the full shape")


@worth(1, "a mask of bool, int or float works, and it broadcasts to the scores", target=CLASS)
def test_weights_mask_kinds(student, rng):
    one, scaled = head(student, 2), rng.normal(size=(2, 3, 4, 4))
    mask = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]])
    padding = np.array([[[[1, 1, 1, 0]]], [[[1, 0, 0, 0]]]])  # (2, 1, 1, 4)
    per_head = np.stack([mask, mask.T, mask[::-1]])  # (3, 4, 4)
    kinds = [mask.astype(kind) for kind in (bool, np.int32, np.int64, np.uint8, np.float32, np.float64)]
    full = [np.broadcast_to(m, scaled.shape).copy() for m in (mask, padding, per_head)]
    values = [array_like(v, scaled.shape) for v in many(one.compute_weights, [(scaled, m) for m in full])]
    for m, weights in zip(full, values, strict=True):
        assert_close(weights.sum(axis=-1), np.ones(scaled.shape[:-1]), of="the sums of the rows")
        assert_close(weights * (1 - m), np.zeros(scaled.shape), of="weights of blocked keys")
        assert_close((weights > 0).astype(int), m, of="keys that get a weight")
    for kind, weights in zip(kinds, many(one.compute_weights, [(scaled, kind) for kind in kinds]), strict=True):
        assert_close(weights, values[0], of=f"mask (4, 4) of {kind.dtype}")
    padded, headed, open_mask, plain, row, column = many(
        one.compute_weights,
        [(scaled, padding), (scaled, per_head), (scaled, np.ones((1, 4))), (scaled,)]
        + [(scaled[0, 0], np.array([True, False, True, True])), (scaled[0, 0], np.array([[1], [0], [1], [1]]))],
    )
    assert_close(padded, values[1], of="mask (2, 1, 1, 4)")
    assert_close(headed, values[2], of="mask (3, 4, 4)")
    plain = array_like(plain, scaled.shape)
    assert_close(open_mask, plain, of="a mask of ones")
    assert_close(array_like(row, (4, 4))[:, 1], np.zeros(4), of="a mask (4,): the blocked key")
    assert_close(array_like(row, (4, 4))[0], values[0][0, 0, 0], of="a mask (4,): the first query")
    assert_close(column, plain[0, 0] * np.array([[1], [0], [1], [1]]), of="a mask of one column")
    square = rng.normal(size=(4, 4, 4))  # four sentences of four tokens: a mask (4, 4) is the same for all of them
    same, apart = many(one.compute_weights, [(square, mask), (square, np.tile(mask, (4, 1, 1)))])
    assert_close(same, array_like(apart, square.shape), of="a mask (4, 4) for four sentences")


@worth(1, "a row whose keys are all blocked has weights of 0", target=CLASS)
def test_weights_of_a_blocked_row(student, rng):
    scaled = rng.normal(size=(3, 4))
    mask = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    cases = [(scaled, mask), (scaled, np.zeros((3, 4), dtype=bool)), (100 * scaled, mask.astype(float))]
    cases += [(np.stack([scaled, scaled]), np.stack([mask, 1 - mask])), (np.full((1, 1), 3.0), np.zeros((1, 1)))]
    weights, nothing, large, batch, single = many(head(student, 4).compute_weights, cases)
    weights = array_like(weights, (3, 4))
    assert_close(weights[1], np.zeros(4), of="the blocked row")
    assert_close(weights[2], np.array([0.0, 1, 0, 0]), of="a row with one key left")
    assert_close(weights[2, 1], 1.0, WHOLE, of="the weight of the only allowed key")
    assert_close(weights[[0, 2]].sum(axis=-1), np.ones(2), of="the sums of the other rows")
    assert_close(nothing, np.zeros((3, 4)), of="everything blocked")
    assert_close(array_like(large, (3, 4))[1], np.zeros(4), of="the blocked row, with larger scores")
    assert_close(array_like(batch, (2, 3, 4))[0], weights, of="in a batch")
    assert_close(single, np.zeros((1, 1)), of="one key, blocked")


# compute_output -----------------------------------------------------------------------------------------


@worth(1, "compute_output is right for many shapes", target=CLASS)
def test_output_agrees_with_the_oracle(student, rng, shown):
    cases = []
    for lead, (n_q, n_k, _, d_v) in SIZES + STACKED:
        shares = rng.uniform(0.1, 1.0, size=(*lead, n_q, n_k))
        cases.append((shares / shares.sum(axis=-1, keepdims=True), rng.normal(size=(*lead, n_k, d_v))))
    cases.append((integers(rng, 0, 4, (3, 3)), integers(rng, -9, 10, (3, 3))))
    for (weights, V), value in zip(cases, many(head(student, 4).compute_output, cases), strict=True):
        assert_close(value, oracle_output(weights, V), of=f"weights {weights.shape}, V {V.shape}")
    seen = [arguments(np.ones((n, 5)), np.ones((5, 4))) for n in (1, 2, 5)]
    shown(student, f"{CLASS}.compute_output", *seen, init=(4,), where=is_float64)


@worth(1, "a weight of 1 gives its value, weights of 0 give 0, and two weights of one half give the mean", target=CLASS)
def test_output_of_simple_weights(student, rng):
    one, V = head(student, 3), integers(rng, -90, 91, (4, 2))
    V[:, 1] = [7, 1, -8, 2]
    picks = derangement(rng, 4)
    weights = np.concatenate([np.eye(4)[picks], np.zeros((1, 4)), [[0.5, 0, 0.5, 0]], np.full((1, 4), 0.25)])
    expected = np.concatenate([V[picks], np.zeros((1, 2)), [(V[0] + V[2]) / 2], [V.sum(axis=0) / 4]])
    flat, square, batch, by_name = one.compute_output.call_many(
        [
            arguments(weights, V),
            arguments(np.eye(4)[picks], V),
            arguments(np.stack([weights, weights[::-1]]), np.stack([V, 10 * V])),
            arguments(V=V, weights=weights),
        ]
    )
    assert_close(flat, expected)
    assert_close(square, V[picks], of="as many queries as keys")
    assert_close(batch, np.stack([expected, 10 * expected[::-1]]), of="a batch")
    assert_close(by_name, expected, of="keyword arguments")


@worth(0.75, "the output is linear in the values and in the weights", target=CLASS)
def test_output_is_linear(student, rng):
    V, U = integers(rng, -9, 10, (2, 3, 2, 4, 4))
    A, B = integers(rng, 0, 5, (2, 3, 2, 4, 4))
    A[..., 0], B[..., 1] = 5, 6
    cases = [(A, V), (A, U), (A, 2 * V - U), (B, V), (A + B, V), (A[0, 0], V[0, 0]), (A, V[..., :1]), (3 * A, V)]
    values = many(head(student, 4).compute_output, cases)
    one, other, both, more, summed = (array_like(value, (3, 2, 4, 4)) for value in values[:5])
    assert_close(both, 2 * one - other, of="values 2V - U")
    assert_close(summed, one + more, of="the sum of two sets of weights")
    assert_close(values[5], one[0, 0], of="only one element")
    assert_close(values[6], one[..., :1], of="one column of V")
    assert_close(values[7], 3 * one, of="weights times three")
    assert np.abs(one).max() > 0, "the output is 0 everywhere"


# forward ------------------------------------------------------------------------------------------------


@worth(1, "forward is right, with and without masks", target=CLASS)
def test_forward_agrees_with_the_oracle(student, rng, shown):
    cases = [random_qkv(rng, sizes, lead) for lead, sizes in SIZES + STACKED]
    for lead, sizes in [((), FLAT[0]), ((), FLAT[6]), ((2,), FLAT[0]), ((2, 3), (4, 3, 3, 2)), ((4,), (4, 5, 3, 2))]:
        cases.append((*random_qkv(rng, sizes, lead), random_masks(rng, (*lead, *sizes[:2]))))
        cases.append((*random_qkv(rng, sizes, lead), random_masks(rng, sizes[:2]).astype(bool)))
    cases.append((*random_qkv(rng, (6, 6, 3, 2)), 1 - np.eye(6)))  # no token sees itself
    for case, pair in zip(cases, forward_many(student, cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"Q {case[0].shape}, K {case[1].shape}, V {case[2].shape}:")
    batch = arguments(*(np.stack([x, x]) for x in SENTENCE), np.array([[[1, 1, 1, 1, 1]], [[1, 1, 1, 0, 0]]]))
    shown(student, f"{CLASS}.forward", arguments(*SENTENCE), batch, init=(4,), where=is_float64)


@worth(1, "forward is right for the sentence and three worked examples", target=CLASS)
def test_forward_of_published_examples(student):
    x = np.array([[3.0, 1, 0, 0], [1, 4, 0, 0], [2, 2, 0, 0]])
    first = (x, x, np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]]))
    street = (
        np.array([[3.0, 1]]),
        np.array([[3.0, 1], [1, 4], [1.5, 0.5]]),
        np.array([[2, 1.5], [0.5, 0.3], [-0.5, 1.2]]),
    )
    small = (np.eye(2), np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0], [0, 2], [1, 1]]))
    cases = [SENTENCE, (*SENTENCE, np.tri(5)), first, street, small]
    sentence, causal, one, two, three = forward_many(student, cases)
    assert_attends(sentence, OUTPUT, WEIGHTS, PRINTED, of="the sentence:")
    assert_close(causal[1], CAUSAL, PRINTED, of="the causal weights of the sentence")
    rows = np.array([[0.6285, 0.1402, 0.2312], [0.0065, 0.9644, 0.0291], [0.2119, 0.5761, 0.2119]])
    assert_close(one[1], rows, PRINTED, of="weights of the first")
    assert_close(one[0][0], np.array([0.7441, 0.2559, 0, 0]), PRINTED, of="output of the first")
    assert_attends(two, np.array([[1.78, 1.37]]), np.array([[0.87, 0.10, 0.03]]), HUNDREDTHS, of="the second:")
    assert_close(three[1][0], np.array([0.4011, 0.4011, 0.1978]), PRINTED, of="weights of the third")
    assert_close(three[0][0], np.array([0.5989, 1.0]), PRINTED, of="output of the third")


@worth(1, "forward gives the same result as the four steps, one after the other", target=CLASS)
def test_forward_is_its_steps(student, rng):
    one = head(student, 3)
    Q, K, V = random_qkv(rng, (4, 5, 3, 2), (2,))
    mask = random_masks(rng, (2, 4, 5))
    for allowed in (None, mask):
        ((output, weights),) = attend_many(one.forward, [(Q, K, V, allowed)])
        scores = array_like(one.compute_scores(Q, K), (2, 4, 5))
        scaled = array_like(one.scale_scores(scores), (2, 4, 5))
        assert_close(weights, array_like(one.compute_weights(scaled, allowed), (2, 4, 5)), of="the weights")
        assert_close(output, array_like(one.compute_output(weights, V), (2, 4, 2)), NEAR, of="the output")
    assert np.abs(scaled - scores).max() > 1e-3, "scale_scores changes nothing"
    assert np.ptp(weights) > 1e-3, "the weights are all the same"


@worth(0.75, "reordering the keys with their values changes no output, and sentences are independent", target=CLASS)
def test_forward_follows_its_tokens(student, rng):
    one = head(student, 4)
    Q, K, V = random_qkv(rng, (4, 4, 4, 4), (4,))
    rows, keys = derangement(rng, 4), derangement(rng, 4)
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1], [1, 1, 1, 0]])
    masks = np.stack([mask, mask.T, mask[::-1], 1 - np.eye(4, dtype=int)])
    cases = [(Q, K, V, masks), (Q[:, rows], K, V, masks[:, rows]), (Q, K[:, keys], V[:, keys], masks[:, :, keys])]
    plain, by_row, by_key = attend_many(one.forward, cases)
    by_name = one.forward.call_many([arguments(mask=masks[b], V=V[b], K=K[b], Q=Q[b]) for b in range(4)])
    alone = [attended(value, (Q[b], K[b], V[b]), f"element {b}") for b, value in enumerate(by_name)]
    assert_rows_sum_to_one(plain[1], (4, 4, 4))
    assert_attends(by_row, plain[0][:, rows], plain[1][:, rows], of="queries in another order:")
    assert_attends(by_key, plain[0], plain[1][:, :, keys], of="keys and values in another order:")
    for b in range(4):
        assert_attends((plain[0][b], plain[1][b]), *alone[b], of=f"element {b} alone:")


@worth(0.75, "in compute_scores and forward, sizes that disagree raise a ValueError that names both", target=CLASS)
def test_class_refuses_sizes_that_disagree(student, rng):
    d = int(rng.integers(7, 20))
    widths = [((2, 3), (4, 6)), ((2, d), (4, d - 1)), ((2, 1), (4, d)), ((2, d), (4, 1)), ((2, 2, 3), (2, 4, 6))]
    lengths = [
        ((2, 3), (4, 3), (6, 5)),
        ((2, 3), (d, 3), (d - 1, 5)),
        ((2, 3), (d, 3), (1, 5)),
        ((2, 3), (1, 3), (d, 5)),
    ]
    lengths += [((2, 2, 3), (2, 6, 3), (2, 4, 5))]
    # One instance for the width of the queries, and one for the width of the keys.
    for turn, (q, k) in enumerate(widths):
        one, Q, K = head(student, (q, k)[turn % 2][-1]), np.ones(q), np.ones(k)
        assert_raises(ValueError, lambda one=one, Q=Q, K=K: one.compute_scores(Q, K), q[-1], k[-1])
        V = np.ones((*k[:-1], 5))
        assert_raises(ValueError, lambda one=one, Q=Q, K=K, V=V: one.forward(Q, K, V), q[-1], k[-1])
    one = head(student, 3)
    for sizes in lengths:
        arrays = [np.ones(size) for size in sizes]
        assert_raises(ValueError, lambda arrays=arrays: one.forward(*arrays), sizes[1][-2], sizes[2][-2])


@worth(0.75, "the results of an instance do not depend on earlier calls", target=CLASS)
def test_class_does_not_remember(student, rng):
    one, fresh = heads(student, 2, 2)
    case, other = random_qkv(rng, (3, 4, 2, 2)), random_qkv(rng, (3, 4, 2, 2))
    mask = np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]])
    pairs = attend_many(one.forward, [(*case, mask), case, other, (*other, 1 - mask), case, (*case, mask)])
    new = attend_many(fresh.forward, [case])
    assert_rows_sum_to_one(new[0][1], (3, 4))
    assert_attends(pairs[1], *new[0], of="after a call with a mask:")
    assert_attends(pairs[4], *new[0], of="the same call again:")
    assert_attends(pairs[5], *pairs[0], of="the same masked call again:")
    scores = rng.normal(size=(3, 4))
    first, masked, again = many(one.compute_weights, [(scores,), (scores, mask), (scores,)])
    assert_close(again, array_like(first, (3, 4)), of="compute_weights again, after a mask")
    assert_close(array_like(masked, (3, 4)) * (1 - mask), np.zeros((3, 4)), of="weights of blocked keys")
    raw, _, later = many(one.compute_scores, [case[:2], other[:2], case[:2]])
    assert_close(later, array_like(raw, (3, 4)), of="compute_scores again")


@worth(0.75, "every step gives the right values for float32 and for integers", target=CLASS)
def test_class_of_other_dtypes(student, rng, shown):
    Q, K, V = (rng.integers(-3, 4, size=size) for size in [(3, 4), (5, 4), (5, 2)])
    V[0] = [2, -3]
    scores, one = rng.integers(-9, 10, size=(3, 5)), head(student, 4)
    weights = np.array([[1, 0, 0, 2, 1], [0, 0, 4, 0, 0], [1, 1, 1, 1, 0]]) / 4
    kinds = {np.float32: np.float32, np.int64: np.float64, np.int32: np.float64}
    q, k, v, s = ([x.astype(kind) for kind in kinds] for x in (Q, K, V, scores))
    shares = [weights.astype(dtype) for dtype in kinds.values()]
    for name, cases, expected in [
        ("compute_scores", zip(q, k, strict=True), oracle_scores(Q, K)),
        ("scale_scores", zip(s, strict=True), scores / 2),
        ("compute_weights", zip(s, strict=True), oracle_weights(scores)),
        ("compute_output", zip(shares, v, strict=True), oracle_output(weights, V)),
    ]:
        for kind, value in zip(kinds, many(getattr(one, name), cases), strict=True):
            assert_close(value, expected.astype(kinds[kind]), of=f"{name} of {kind.__name__}")
    mixed = attend_many(one.forward, [(Q, K / 4, V / 2), (Q / 4, K, V / 2), (Q / 4, K / 2, V)])
    for case, pair in zip([(Q, K / 4, V / 2), (Q / 4, K, V / 2), (Q / 4, K / 2, V)], mixed, strict=True):
        assert_attends(pair, *oracle_attention(*case), of="integers and floats together: forward:")
    for kind, pair in zip(kinds, attend_many(one.forward, list(zip(q, k, v, strict=True))), strict=True):
        assert_attends(
            pair, *(x.astype(kinds[kind]) for x in oracle_attention(Q, K, V)), of=f"{kind.__name__}: forward:"
        )
    shown(student, f"{CLASS}.compute_scores", arguments(*STUB[:2]), init=(4,), where=lambda call: not is_float64(call))
    shown(student, f"{CLASS}.compute_weights", where=lambda call: len(call.args) == 1 and not is_float64(call))
    shown(student, f"{CLASS}.forward", arguments(*STUB), init=(4,), where=lambda call: not is_float64(call))
    for name in ("scale_scores", "compute_output"):
        shown(student, f"{CLASS}.{name}", where=lambda call: not is_float64(call))


@worth(0.75, "every step returns float32 for float32, and float64 for float64 and integers", target=CLASS)
def test_class_dtype(student):
    Q, K, V = np.array([[1, 2], [0, 1]]), np.array([[1, 1], [2, 0], [3, 1]]), np.array([[1, 2], [3, 4], [5, 6]])
    scores, mask, one = np.array([[1, 0, 2], [0, 3, 1]]), np.tri(2, 3), head(student, 2)
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    methods = {"compute_scores": [], "scale_scores": [], "compute_weights": [], "compute_output": [], "forward": []}
    for kind, expected in kinds.items():
        q, k, v, s = (x.astype(kind) for x in (Q, K, V, scores))
        methods["compute_scores"].append((expected, (q, k)))
        methods["scale_scores"].append((expected, (s,)))
        methods["compute_weights"] += [(expected, (s,)), (expected, (s.astype(expected), mask))]
        methods["compute_output"].append((expected, (s.astype(expected), v)))
        methods["forward"] += [(expected, (q, k, v)), (expected, (q, k, v, mask)), (expected, (q, k, v, mask != 0))]
    for name, cases in methods.items():
        values = many(getattr(one, name), [case for _, case in cases])
        for (expected, _), value in zip(cases, values, strict=True):
            if name == "forward":
                attended(value, (Q, K, V))
            for result in value if name == "forward" else (value,):
                assert_dtype(result, expected)


# explain ------------------------------------------------------------------------------------------------

# There may be spaces between a sign and its digits, as in the output of a format such as {x:= 8.4f}.
NUMBER = re.compile(r"([-−–‒+]?)(\s{0,20})((?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+−]?[0-9]{1,3})?)")
LONGEST_TEXT = 100_000


def numbers_in(text):
    """Return every number a reader could see in a text. Read a dash that may be a separator in both ways."""
    found = []
    for match in NUMBER.finditer(text):
        sign, space, digits = match.groups()
        value = float(digits.replace("−", "-"))
        if sign and sign != "+":
            found.append(-value)
            before = text[match.start() - 1 : match.start()]
            if not space and (not before or before.isspace() or before in "([{=:,;|<>*/+'\"`"):
                continue
        found.append(value)
    return np.array(found)


def assert_tells(text, tokens, parts, of=""):
    """Fail unless the text contains every token's name and every number of every part, to four decimals."""
    of = f"{of}: " if of else ""
    assert type(text) is str, f"{of}explain should return a text"
    assert len(text) <= LONGEST_TEXT, f"{of}the text has {len(text)} characters"
    missing = [token for token in tokens if token not in text]
    assert not missing, f"{of}the text does not name {', '.join(missing)}"
    found = numbers_in(text)
    for name, numbers in parts.items():
        for number in numbers:
            here = bool((np.abs(found - number) <= PRINTED.absolute).any())
            assert here, f"{of}the {name} should have {number:.4f}, which is not in the text"


def oracle_parts(Q, K, V):
    scores = oracle_scores(Q, K)
    output, weights = oracle_attention(Q, K, V)
    scaled = scores * float(Q.shape[-1]) ** -0.5
    return {"raw scores": scores, "scaled scores": scaled, "weights": weights, "output": output}


def far_apart(numbers, others, gap=3e-4):
    """Tell whether all numbers differ from each other and from the others, whatever their signs are."""
    numbers, others = np.abs(np.concatenate(numbers)), np.abs(np.concatenate(others))
    between = np.diff(np.sort(numbers)).min()
    return min(between, np.abs(numbers[:, None] - others).min()) > gap


def tellable(rng, n, d_k, d_v):
    """Return Q, K and V whose steps give numbers that differ from each other, from the inputs and from whole numbers.

    None of them is so small or so large that NumPy would print it with an exponent.
    """
    for _ in range(10_000):
        Q, K, V = random_qkv(rng, (n, n, d_k, d_v))
        parts = [part.ravel() for part in oracle_parts(Q, K, V).values()]
        sizes = np.abs(np.concatenate(parts))
        others = [Q.ravel(), K.ravel(), V.ravel(), np.arange(40) / 2, np.array([d_k**0.5, d_k**-0.5])]
        if sizes.min() > 0.02 and sizes.max() < 9 and far_apart(parts, others):
            return Q, K, V
    raise ValueError("no inputs whose numbers are all different")


def tellable_query(rng, n, d_k, d_v, query):
    """Return the same for a longer sentence, for one query only."""
    for _ in range(10_000):
        Q, K, V = random_qkv(rng, (n, n, d_k, d_v))
        told = list(row_of(oracle_parts(0.6 * Q, K, V), query).values())
        sizes = np.abs(np.concatenate(told))
        if sizes.min() > 0.02 and sizes.max() < 9 and far_apart(told, [np.arange(40) / 2]):
            return 0.6 * Q, K, V
    raise ValueError("no inputs whose numbers are all different")


def row_of(parts, i):
    return {name: part[i] for name, part in parts.items()}


@worth(1, "every number in the text of explain is right", target=CLASS)
def test_explain_agrees_with_the_oracle(student, rng):
    for tokens, d_k, d_v in [(["fep", "wug", "dax"], 2, 5), (["dax", "dax", "wug", "dax"], 3, 2)]:
        n, one = len(tokens), head(student, d_k)
        Q, K, V = tellable(rng, n, d_k, d_v)
        parts = oracle_parts(Q, K, V)
        texts = one.explain.call_many([arguments(Q, K, V, tokens, i) for i in range(n)])
        for i, text in enumerate(texts):
            assert_tells(text, tokens, row_of(parts, i), f"{n} tokens, query_idx {i}")
    tokens = ["fep", "wug", "dax", "blick", "zup", "tove", "gorp"]
    Q, K, V = tellable_query(rng, len(tokens), 4, 6, query=4)
    told = row_of(oracle_parts(Q, K, V), 4)
    assert_tells(head(student, 4).explain(Q, K, V, tokens, 4), tokens, told, "seven tokens, query_idx 4")
    Q, K, V = tellable_query(rng, len(TOKENS), 4, 4, query=1)  # the shape and the tokens of the shared example
    told = row_of(oracle_parts(Q, K, V), 1)
    for text in head(student, 4).explain.call_many(
        [arguments(Q, K, V, TOKENS, 1), arguments(Q, K, V, TOKENS, query_idx=1)]
    ):
        assert_tells(text, TOKENS, told, "five tokens, query_idx 1")


@worth(1, "the text of explain contains raw scores, scaled scores, weights, output and every name", target=CLASS)
def test_explain_tells_every_step(student):
    if not far_apart([np.ravel(part) for part in WUGS_TOLD.values()], [x.ravel() for x in WUGS]):
        raise ValueError("the numbers of the example are not all different")
    text = head(student, 3).explain(*WUGS, NAMES)
    assert_tells(text, NAMES, row_of(WUGS_TOLD, 0))


@worth(1, "explain uses query_idx, positional or as a keyword, and the first query by default", target=CLASS)
def test_explain_follows_the_query(student):
    one, (Q, K, V) = head(student, 3), WUGS
    calls = [arguments(Q, K, V, NAMES, query_idx=2), arguments(Q, K, V, NAMES, 1)]
    calls += [
        arguments(Q=Q, K=K, V=V, tokens=NAMES, query_idx=3),
        arguments(Q, K, V, NAMES),
        arguments(Q, K, V, NAMES, 0),
    ]
    for i, text in zip((2, 1, 3, 0, 0), one.explain.call_many(calls), strict=True):
        assert_tells(text, NAMES, row_of(WUGS_TOLD, i), f"query_idx {i}")


@worth(0.75, "explain gives the lesson's numbers for the sentence", target=CLASS)
def test_explain_of_the_sentence(student):
    one = head(student, 4)
    whole = tuple((2 * x).astype(int) for x in SENTENCE[:2])
    texts = one.explain.call_many([arguments(*SENTENCE, TOKENS, i) for i in range(5)])
    for i, text in enumerate(texts):
        parts = {"raw scores": SCORES, "scaled scores": SCORES / 2, "weights": WEIGHTS, "output": OUTPUT}
        assert_tells(text, TOKENS, row_of(parts, i), TOKENS[i])
    text = one.explain(*whole, SENTENCE[2], TOKENS)  # integers; scores are four times as large
    assert_tells(text, TOKENS, {"raw scores": 4 * SCORES[0], "scaled scores": 2 * SCORES[0]}, "integers")


@worth(0.5, "explain works when a name appears twice, and for a single token", target=CLASS)
def test_explain_of_odd_sentences(student):
    one, (Q, K, V) = head(student, 3), WUGS
    text, single = one.explain.call_many(
        [arguments(Q, K, V, ["wug", "dax", "wug", "dax"], 2), arguments(Q[2:3], K[2:3], V[2:3], ["blick"])]
    )
    assert_tells(text, ["wug", "dax"], row_of(WUGS_TOLD, 2), "wug dax wug dax")
    alone = {"raw scores": [3.44], "scaled scores": [1.9861], "weights": [1.0], "output": V[2]}
    assert_tells(single, ["blick"], alone, "one token")


@worth(0.25, "explain gives the same text again", target=CLASS)
def test_explain_does_not_remember(student):
    one = head(student, 3)
    texts = one.explain.call_many([arguments(*WUGS, NAMES, i) for i in (1, 3, 1)])
    assert all(type(text) is str for text in texts), "explain should return a text"
    assert texts[0] == texts[2], "a second call for the same query gives a different text"
    assert texts[0] != texts[1], "two different queries give the same text"


# scaled_dot_product_attention ---------------------------------------------------------------------------


@worth(1, "attention is right for many shapes", target=FUNCTION)
def test_attention_agrees_with_the_oracle(student, rng, shown):
    cases = [random_qkv(rng, sizes, lead) for lead, sizes in SIZES + STACKED]
    for case, pair in zip(cases, attend_many(student.scaled_dot_product_attention, cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"Q {case[0].shape}, K {case[1].shape}, V {case[2].shape}:")
    seen = [arguments(*SENTENCE), arguments(SENTENCE[0][:2], *SENTENCE[1:])]
    shown(student, FUNCTION, *seen, where=lambda call: is_float64(call) and not is_masked(call))


@worth(0.75, "attention with masks is right", target=FUNCTION)
def test_attention_with_masks_agrees_with_the_oracle(student, rng, shown):
    cases = []
    leads = [((), (4, 5, 3, 2)), ((), (4, 4, 4, 4)), ((2,), (4, 5, 3, 2)), ((2, 3), (4, 3, 3, 2)), ((4,), (4, 4, 3, 2))]
    for lead, sizes in leads:
        masks = [random_masks(rng, (*lead, *sizes[:2])).astype(kind) for kind in (bool, np.int64, np.float64)]
        masks += [random_masks(rng, sizes[:2]), random_masks(rng, (*lead, 1, sizes[1]))]
        cases += [(*random_qkv(rng, sizes, lead), mask) for mask in masks]
    cases.append((*random_qkv(rng, (3, 5, 4, 2), (2, 3)), random_masks(rng, (2, 1, 1, 5))))
    for case, pair in zip(cases, attend_many(student.scaled_dot_product_attention, cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"Q {case[0].shape}, mask {case[3].shape}:")
    seen = arguments(*SENTENCE, np.tri(5))
    shown(student, FUNCTION, seen, where=lambda call: is_float64(call) and is_masked(call))


@worth(1, "all weights and outputs of the sentence match the lesson's tables", target=FUNCTION)
def test_attention_of_the_sentence(student):
    x = np.array([[3.0, 1, 0, 0], [1, 4, 0, 0], [2, 2, 0, 0]])
    first = (x, x, np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]]))
    pair, causal, one = attend_many(
        student.scaled_dot_product_attention, [SENTENCE, (*SENTENCE, np.tri(5, dtype=int)), first]
    )
    assert_attends(pair, OUTPUT, WEIGHTS, PRINTED)
    assert_close(causal[1], CAUSAL, PRINTED, of="causal")
    assert_close(one[0][0], np.array([0.7441, 0.2559, 0, 0]), PRINTED, of="another worked example")


@worth(
    1, "scores are divided by the root of d_k: four copies of the features act like doubled queries", target=FUNCTION
)
def test_attention_scale_follows_the_width(student, rng):
    Q, K, V = random_qkv(rng, (3, 5, 3, 2))
    wide, long = attend_many(student.scaled_dot_product_attention, [(np.tile(Q, 4), np.tile(K, 4), V), (2 * Q, K, V)])
    assert_attends(wide, *long)
    assert np.abs(wide[1] - 1 / 5).max() > 1e-3, "all weights are the same, whatever the scores are"


@worth(0.5, "scores of 5000 and -5000 do not overflow", target=FUNCTION)
def test_attention_of_large_scores(student):
    Q = np.array([[100.0, 0, 0, 0], [-100.0, 0, 0, 0], [0, 60, 0, 0]])
    K = np.array([[100.0, 100, 0, 0], [99.98, -100, 0, 0], [50, 0, 0, 0], [99.96, 100, 1, 0]])
    V = np.arange(8.0).reshape(4, 2)
    blocked = np.array([[0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0]])
    pair, masked = attend_many(student.scaled_dot_product_attention, [(Q, K, V), (Q, K, V, blocked)])
    e1, e2 = np.exp(-1.0), np.exp(-2.0)
    weights = np.array([[1, e1, 0, e2], [0, 0, 1, 0], [1, 0, 0, 1]])
    left = np.array([[0, 1, 0, e1], [e1, 1, 0, 0], [1, 0, 0, 0]])
    for name, found, rows in [("plain", pair, weights), ("masked", masked, left)]:
        shares = rows / rows.sum(axis=1, keepdims=True)
        output = [[sum(w * v for w, v in zip(row, V[:, c], strict=True)) for c in range(2)] for row in shares]
        # Scores near 5000 are only exact to about 1e-12, so the weights have a relative error of that size.
        assert_attends(found, np.array(output), shares, Tolerance(1e-9, 1e-10), of=f"{name}:")


@worth(0.75, "reordering the tokens only reorders the results", target=FUNCTION)
def test_attention_follows_its_tokens(student, rng):
    Q, K, V = random_qkv(rng, (4, 5, 3, 2))
    rows, keys = derangement(rng, 4), derangement(rng, 5)
    plain, by_row, by_key, fewer = attend_many(
        student.scaled_dot_product_attention, [(Q, K, V), (Q[rows], K, V), (Q, K[keys], V[keys]), (Q[1:3], K, V)]
    )
    assert_rows_sum_to_one(plain[1], (4, 5))
    assert_attends(by_row, plain[0][rows], plain[1][rows], of="queries in another order:")
    assert_attends(by_key, plain[0], plain[1][:, keys], of="keys and values in another order:")
    assert_attends(fewer, plain[0][1:3], plain[1][1:3], of="only two of the queries:")


@worth(0.75, "the output is the mean of the values, weighted by weights that do not depend on V", target=FUNCTION)
def test_attention_mixes_the_values(student, rng):
    Q, K, V = random_qkv(rng, (4, 4, 3, 3))
    U, constant = rng.normal(size=V.shape), np.tile(np.array([[7.0, -2.0, 3.0, 1.0]]), (4, 1))
    cases = [(Q, K, V), (Q, K, U), (Q, K, 2 * V - U), (Q, K, constant), (0 * Q, K, V), (Q, K[:1], V[:1])]
    one, other, both, same, even, single = attend_many(student.scaled_dot_product_attention, cases)
    assert_rows_sum_to_one(one[1], (4, 4))
    assert_close(
        one[0], (one[1][:, :, None] * V[None]).sum(axis=1), NEAR, of="the output, compared with the weights times V"
    )
    assert (one[0] <= V.max(axis=0) + 1e-9).all(), "an output is above every value"
    assert_attends(both, 2 * one[0] - other[0], one[1], NEAR, of="2V - U:")
    assert_close(same[0], constant, of="equal values")
    assert_attends(even, np.stack([V.mean(axis=0)] * 4), np.full((4, 4), 0.25), of="queries of zeros:")
    assert_attends(single, np.repeat(V[:1], 4, axis=0), np.ones((4, 1)), of="a single key:")


@worth(1, "each element of a batch gives the same result as it does alone", target=FUNCTION)
def test_attention_of_a_batch(student, rng):
    Q, K, V = random_qkv(rng, (4, 4, 4, 4), (2, 4))
    masks = random_masks(rng, (2, 4, 4, 4))
    call = student.scaled_dot_product_attention
    batch, *alone = attend_many(call, [(Q[1], K[1], V[1]), *((Q[1, b], K[1, b], V[1, b]) for b in range(4))])
    for b in range(4):
        assert_rows_sum_to_one(alone[b][1], (4, 4))
        assert_attends((batch[0][b], batch[1][b]), *alone[b], of=f"element {b}:")
    whole, masked = attend_many(call, [(Q, K, V), (Q, K, V, masks)])
    alone_masked = attend_many(call, [(Q[1, b], K[1, b], V[1, b], masks[1, b]) for b in range(4)])
    for b in range(4):
        assert_attends((whole[0][1, b], whole[1][1, b]), *alone[b], of=f"element (1, {b}):")
        assert_attends((masked[0][1, b], masked[1][1, b]), *alone_masked[b], of=f"element (1, {b}), masked:")


@worth(
    1, "a blocked key has the same effect as a missing key, whatever the dtype and shape of the mask", target=FUNCTION
)
def test_attention_without_the_blocked_keys(student, rng):
    Q, K, V = random_qkv(rng, (3, 5, 4, 2))
    mask, kept = np.array([[1, 0, 1, 1, 0]]), [0, 2, 3]
    other_k, other_v = K.copy(), V.copy()
    other_k[1], other_k[4] = 1e4 * Q[0], -40.0  # the first is by far the best match of query 0
    other_v[[1, 4]] = 1e3
    call = student.scaled_dot_product_attention
    short, masked, changed = attend_many(call, [(Q, K[kept], V[kept]), (Q, K, V, mask), (Q, other_k, other_v, mask)])
    assert_close(masked[1][:, [1, 4]], np.zeros((3, 2)), of="weights of blocked keys")
    assert_close(masked[1][:, kept], short[1], of="weights of the other keys")
    assert_close(masked[0], short[0], of="the output")
    assert_attends(changed, *masked, of="other numbers in the blocked keys:")
    kinds = [mask[0], mask.astype(bool), mask.astype(float), np.tile(mask.astype(np.float32), (3, 1))]
    for kind, value in zip(kinds, call.call_many([arguments(Q, K, V, mask=kind) for kind in kinds]), strict=True):
        assert_attends(attended(value, (Q, K, V)), *masked, of=f"mask {kind.shape} of {kind.dtype}:")
    named = attended(call(mask=mask, V=V, K=K, Q=Q), (Q, K, V))
    assert_attends(named, *masked, of="keyword arguments:")


@worth(1, "a query whose keys are all blocked has weights of 0 and an output of 0", target=FUNCTION)
def test_attention_of_a_blocked_query(student, rng):
    Q, K, V = random_qkv(rng, (3, 4, 2, 2))
    mask = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    (output, weights), nothing = attend_many(
        student.scaled_dot_product_attention, [(Q, K, V, mask), (Q, K, V, np.zeros((3, 4), dtype=bool))]
    )
    assert_close(weights[1], np.zeros(4), of="weights of the blocked query")
    assert_close(output[1], np.zeros(2), of="output of the blocked query")
    assert_close(weights[2], np.array([0.0, 1, 0, 0]), of="a query with one key left")
    assert_close(output[2], V[1], of="the output of a query with one key left")
    assert_close(weights[[0, 2]].sum(axis=-1), np.ones(2), of="the sums of the other rows")
    assert_attends(nothing, np.zeros((3, 2)), np.zeros((3, 4)), of="everything blocked:")


@worth(0.5, "attention gives the right values for float32 and for integers", target=FUNCTION)
def test_attention_of_other_dtypes(student, rng, shown):
    Q, K, V = (rng.integers(-3, 4, size=size) for size in [(3, 4), (5, 4), (5, 2)])
    V[0] = [2, -3]
    kinds = [np.float32, np.int64, np.int32]
    cases = [(*(x.astype(kind) for x in (Q, K, V)), mask) for kind in kinds for mask in (None, np.tri(3, 5))]
    pairs = attend_many(student.scaled_dot_product_attention, cases)
    for case, pair in zip(cases, pairs, strict=True):
        dtype = np.float32 if case[0].dtype == np.float32 else np.float64
        expected = oracle_attention(Q, K, V, case[3])
        assert_attends(pair, *(x.astype(dtype) for x in expected), of=f"{case[0].dtype}:")
    mixed = [(Q, K / 4, V / 2), (Q / 4, K, V / 2), (Q / 4, K / 2, V)]
    for case, pair in zip(mixed, attend_many(student.scaled_dot_product_attention, mixed), strict=True):
        assert_attends(pair, *oracle_attention(*case), of="integers and floats together:")
    seen = [arguments(*STUB), arguments(*PAGE), arguments(*STREET)]
    shown(student, FUNCTION, *seen, where=lambda call: not is_float64(call))


@worth(0.75, "if sizes of Q, K and V disagree, the ValueError names both", target=FUNCTION)
def test_attention_refuses_sizes_that_disagree(student, rng):
    d = int(rng.integers(7, 20))
    widths = [
        ((2, 3), (4, 6), (4, 5)),
        ((2, d), (4, d - 1), (4, 5)),
        ((2, 1), (4, d), (4, 5)),
        ((2, d), (4, 1), (4, 5)),
    ]
    widths += [((2, 2, 3), (2, 4, 6), (2, 4, 5))]
    lengths = [
        ((2, 3), (4, 3), (6, 5)),
        ((2, 3), (d, 3), (d - 1, 5)),
        ((2, 3), (d, 3), (1, 5)),
        ((2, 3), (1, 3), (d, 5)),
    ]
    lengths += [((2, 2, 3), (2, 6, 3), (2, 4, 5))]
    for sizes, numbers in [(s, (s[0][-1], s[1][-1])) for s in widths] + [(s, (s[1][-2], s[2][-2])) for s in lengths]:
        arrays = [np.ones(size) for size in sizes]
        assert_raises(ValueError, lambda a=arrays: student.scaled_dot_product_attention(*a), *numbers)


@worth(0.5, "the result of attention does not depend on earlier calls", target=FUNCTION)
def test_attention_does_not_remember(student, rng):
    case, other = random_qkv(rng, (3, 4, 2, 2)), random_qkv(rng, (3, 4, 2, 2))
    mask = np.tri(3, 4)
    wide = tuple(np.tile(x, 4) for x in case)
    cases = [case, (*case, mask), other, (*other, 1 - mask), wide, case, (*case, mask)]
    pairs = attend_many(student.scaled_dot_product_attention, cases)
    assert_rows_sum_to_one(pairs[0][1], (3, 4))
    assert_attends(pairs[5], *pairs[0], of="the same call again:")
    assert_attends(pairs[6], *pairs[1], of="the same masked call again:")
    assert np.abs(pairs[2][1] - pairs[0][1]).max() > 1e-3, "other queries and keys give the same weights"


@worth(0.5, "attention returns float32 for float32, and float64 for float64 and integers", target=FUNCTION)
def test_attention_dtype(student):
    Q, K, V = np.array([[1, 2], [0, 1]]), np.array([[1, 1], [2, 0], [3, 1]]), np.array([[1, 2], [3, 4], [5, 6]])
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    cases = [(*(x.astype(k) for x in (Q, K, V)), mask) for k in kinds for mask in (None, np.tri(2, 3))]
    values = many(student.scaled_dot_product_attention, cases)
    for value, expected in zip(values, (kind for kind in kinds.values() for _ in range(2)), strict=True):
        attended(value, (Q, K, V))
        assert_dtype(value[0], expected)
        assert_dtype(value[1], expected)


# reflect ------------------------------------------------------------------------------------------------


@worth(1.5, "the variance of a score for d_k = 512 is right", target="reflect")
def test_reflect_score_variance(student):
    assert_close(student.REFLECT_SCORE_VARIANCE_DK512, 512)


@worth(1.5, "the number of bytes of the scores of 8192 tokens in float32 is right", target="reflect")
def test_reflect_score_bytes(student):
    assert_close(student.REFLECT_SCORE_BYTES_FLOAT32_N8192, 268435456)

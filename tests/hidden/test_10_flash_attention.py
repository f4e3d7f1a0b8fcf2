"""Hidden suite of 10_flash_attention. Its oracles are sums over Python numbers, and gradients by complex steps."""

import math

import numpy as np

from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    worth,
)

MERGE, FLASH, BACKWARD = "merge_softmax", "flash_attention", "flash_attention_backward"
SINGLE = Tolerance(2e-4, 2e-5)  # float32
SHARP = Tolerance(1e-9, 1e-11)


def oracle_log_sum(row):
    """The logarithm of a sum of exponentials, with exact additions."""
    top = max(row)
    return top + math.log(math.fsum(math.exp(score - top) for score in row)) if top > -math.inf else -math.inf


def oracle_attention(q, k, v, causal=False):
    """Attention of two-dimensional arrays, one query after another, and its log-sums."""
    outputs, log_sums = [], []
    for i, query in enumerate(q):
        seen = range(min(i + 1, len(k)) if causal else len(k))
        scores = [math.fsum(query * k[j]) / math.sqrt(len(query)) for j in seen]
        total = oracle_log_sum(scores)
        weights = [math.exp(score - total) for score in scores]
        outputs.append([math.fsum(w * v[j, c] for w, j in zip(weights, seen, strict=True)) for c in range(v.shape[1])])
        log_sums.append(total)
    return np.array(outputs), np.array(log_sums)


def oracle_gradients(q, k, v, d_out, causal=False):
    """The gradients by a complex step: exact to rounding, without a formula for them."""

    def loss(q, k, v):
        scores = q @ k.T / np.sqrt(q.shape[1])
        if causal:
            scores = np.where(np.arange(len(k)) > np.arange(len(q))[:, None], -np.inf, scores)
        weights = np.exp(scores - scores.real.max(axis=1, keepdims=True))
        return np.sum(d_out * (weights @ v) / weights.sum(axis=1, keepdims=True))

    found = []
    for which, array in enumerate((q, k, v)):
        gradient = np.empty(array.shape)
        for place in np.ndindex(array.shape):
            moved = [one.astype(complex) for one in (q, k, v)]
            moved[which][place] += 1e-30j
            gradient[place] = loss(*moved).imag / 1e-30
        found.append(gradient)
    return found


def results(value, *shapes):
    """Return the arrays of a tuple, each with its shape and its own dtype; -inf is allowed."""
    assert type(value) is tuple, f"expected a tuple of {len(shapes)}, got {type(value).__name__}"
    assert len(value) == len(shapes), f"expected {len(shapes)} results, got {len(value)}"
    for number, (one, shape) in enumerate(zip(value, shapes, strict=True)):
        numbers = isinstance(one, np.ndarray) and one.dtype.kind in "fiub"
        assert numbers, f"result {number} should be an array of numbers"
        assert one.shape == shape, f"result {number} has the shape {one.shape}, expected {shape}"
    return value


def with_a_sum(call):
    """The call with a sum that exponentials can have: 1 for the largest score, and more."""
    m, total, scores = call.args
    return arguments(m, 1 + abs(total), scores)


def rising(rng, rows, tiles, width):
    """Tiles whose largest score grows from one to the next in every row, and falls back at the last."""
    base = np.append(np.arange(tiles - 1) * 2.5, 0.5)
    return [base[t] + rng.uniform(-1, 1, size=(rows, width)) for t in range(tiles)]


def rising_keys(q, k):
    """The keys in an order in which the scores of the last query rise: every tile has a larger one."""
    return k[np.argsort(k @ q[-1])]


# merge_softmax ------------------------------------------------------------------------------------------


@worth(4.5, "the largest score and the sum after several tiles are those of the whole row", target=MERGE)
def test_merge_over_several_tiles(student, rng, shown):
    tiles = rising(rng, 3, 4, 2)
    for tile in tiles:
        tile[1] -= 20  # the largest score of a row may be below 0
    m, total = np.full(3, -np.inf), np.zeros(3)
    for tile in tiles:
        m, total, _, _ = results(student.merge_softmax(m, total, tile), (3,), (3,), (3, 2), (3,))
    whole = np.concatenate(tiles, axis=1)
    assert_close(m, whole.max(axis=1), of="the largest score")
    assert_close(total, np.array([math.fsum(math.exp(s - max(row)) for s in row) for row in whole]), of="the sum")
    shown(student, MERGE, fit=with_a_sum)


@worth(3, "weights are exponentials relative to the new largest score, not divided", target=MERGE)
def test_merge_weights(student, rng):
    low, high = rng.uniform(-1, 1, size=(2, 3, 4))
    high[1] -= 2  # the new largest score may be below 0
    for m, scores in ((np.full(3, 4.0), low), (np.full(3, -4.0), high)):
        found = student.merge_softmax(m, np.ones(3), scores)
        m_new, _, weights, _ = results(found, (3,), (3,), (3, 4), (3,))
        top = np.maximum(m, np.sort(scores, axis=1)[:, -1])
        assert_close(m_new, top, of="m_new")
        expected = np.array([[math.exp(s - t) for s in row] for row, t in zip(scores, top, strict=True)])
        assert_close(weights, expected, of="weights")


@worth(3, "rescale turns what was made with the old maximum into what the new one needs", target=MERGE)
def test_merge_rescale(student, rng):
    old = rng.uniform(-1, 1, size=(4, 3))
    old[1] -= 1.5  # the old largest score may be below 0, and stay the largest
    scores = rng.uniform(-1, 1, size=(4, 2)) + np.array([[3.0], [-4.0], [2.0], [-2.0]])
    m = old.max(axis=1)
    _, total, weights, rescale = results(
        student.merge_softmax(m, np.exp(old - m[:, None]).sum(axis=1), scores), (4,), (4,), (4, 2), (4,)
    )
    top = np.maximum(m, scores.max(axis=1))
    assert_close(rescale, np.exp(m - top), of="rescale")
    assert_close(
        total - array_like(weights, (4, 2)).sum(axis=1),
        np.exp(old - top[:, None]).sum(axis=1),
        of="the old part of l_new",
    )


@worth(2, "rows near 1000 and near -1000 in one tile are both right", target=MERGE)
def test_merge_of_any_scores(student, rng):
    near = rng.uniform(0, 2, size=(3, 3))
    scores = near + np.array([[1000.0], [-1000.0], [0.0]])
    m, total, weights, _ = results(
        student.merge_softmax(np.full(3, -np.inf), np.zeros(3), scores), (3,), (3,), (3, 3), (3,)
    )
    assert_close(m, scores.max(axis=1), of="m_new")
    assert_close(weights, np.exp(near - near.max(axis=1, keepdims=True)), of="weights")
    assert_close(total, np.exp(near - near.max(axis=1, keepdims=True)).sum(axis=1), of="l_new")


@worth(2, "a row without a key so far stays at -inf and 0; blocked keys have the weight 0; never NaN", target=MERGE)
def test_merge_of_blocked_keys(student, rng):
    scores = rng.uniform(-1, 1, size=(4, 3))
    scores[0], scores[1], scores[2, 1] = -np.inf, -np.inf, -np.inf
    m, total = np.array([-np.inf, 0.25, -np.inf, 0.5]), np.array([0.0, 1.5, 0.0, 2.0])
    m_new, l_new, weights, rescale = results(student.merge_softmax(m, total, scores), (4,), (4,), (4, 3), (4,))
    assert_close(m_new[:2], np.array([-np.inf, 0.25]), of="m_new of rows without a new key")
    assert_close(l_new[:2], np.array([0.0, 1.5]), of="l_new of rows without a new key")
    assert_close(weights[:2], np.zeros((2, 3)), of="weights of blocked keys")
    assert_close(weights[2, 1], np.array(0.0), of="the weight of one blocked key")
    assert_close(np.isfinite(rescale), np.ones(4), of="whether rescale is finite")
    assert_close(rescale[1], np.array(1.0), of="rescale of a row that keeps its maximum")


@worth(1, "a blocked tile first, then keys: as if the blocked tile had not been there", target=MERGE)
def test_merge_after_a_blocked_tile(student, rng):
    scores = rng.uniform(-1, 1, size=(2, 3)) - 500
    first = results(
        student.merge_softmax(np.full(2, -np.inf), np.zeros(2), np.full((2, 2), -np.inf)), (2,), (2,), (2, 2), (2,)
    )
    m, total, _, rescale = results(student.merge_softmax(first[0], first[1], scores), (2,), (2,), (2, 3), (2,))
    expected = np.array([oracle_log_sum(row) for row in scores])
    assert_close(array_like(m, (2,)) + np.log(array_like(total, (2,))), expected, of="the log-sum")
    assert_close(np.isfinite(rescale), np.ones(2), of="whether rescale is finite")


@worth(0.75, "merge_softmax returns float32 for float32 and float64 for float64", target=MERGE)
def test_merge_dtype(student):
    for kind in (np.float32, np.float64):
        values = student.merge_softmax(np.zeros(2, kind), np.ones(2, kind), np.array([[1, 2], [0, -1]], kind))
        for value in results(values, (2,), (2,), (2, 2), (2,)):
            assert_dtype(value, kind)


# flash_attention ----------------------------------------------------------------------------------------


@worth(4, "output and L agree with sums over Python numbers, for every size of tiles", target=FLASH)
def test_flash_agrees_with_the_oracle(student, rng, shown):
    q, k, v = rng.normal(size=(7, 3)) * 2, rng.normal(size=(5, 3)) * 2, rng.normal(size=(5, 4))
    expected = oracle_attention(q, k, v)
    blocks = [(1, 1), (2, 3), (3, 2), (4, 5), (7, 5), (7, 1), (1, 5)]
    for (b, c), value in zip(
        blocks, student.flash_attention.call_many([arguments(q, k, v, *one) for one in blocks]), strict=True
    ):
        output, log_sums = results(value, (7, 4), (7,))
        assert_close(output, expected[0], of=f"O in tiles of {b} × {c}")
        assert_close(log_sums, expected[1], of=f"L in tiles of {b} × {c}")
    shown(student, FLASH)


@worth(3, "tiles that are larger than the arrays, or do not divide them, change nothing", target=FLASH)
def test_flash_with_odd_tiles(student, rng):
    q, k, v = rng.normal(size=(5, 2)), rng.normal(size=(11, 2)), rng.normal(size=(11, 3))
    k = rising_keys(q, k)
    blocks = [(5, 11), (100, 100), (3, 4), (2, 10), (4, 7)]
    values = student.flash_attention.call_many([arguments(q, k, v, *one) for one in blocks])
    whole, *others = [results(value, (5, 3), (5,)) for value in values]
    assert_close(whole[0], oracle_attention(q, k, v)[0], of="one tile")
    for (b, c), (output, log_sums) in zip(blocks[1:], others, strict=True):
        assert_close(output, whole[0], of=f"O in tiles of {b} × {c}")
        assert_close(log_sums, whole[1], of=f"L in tiles of {b} × {c}")


@worth(2.5, "with is_causal, query i sees the keys up to i, whatever the tiles are", target=FLASH)
def test_flash_causal(student, rng, shown):
    q, k, v = rng.normal(size=(7, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    expected = oracle_attention(q, k, v, causal=True)
    blocks = [(1, 1), (2, 2), (3, 2), (2, 5), (4, 3), (7, 7), (9, 1)]
    values = student.flash_attention.call_many([arguments(q, k, v, *one, True) for one in blocks])
    for (b, c), value in zip(blocks, values, strict=True):
        output, log_sums = results(value, (7, 2), (7,))
        assert_close(output, expected[0], of=f"O in tiles of {b} × {c}")
        assert_close(log_sums, expected[1], of=f"L in tiles of {b} × {c}")
    shown(student, FLASH, where=lambda call: True in [one for one in call.args if type(one) is bool])


@worth(2, "is_causal counts from the top left, also with more keys than queries, or fewer", target=FLASH)
def test_flash_causal_of_other_lengths(student, rng):
    for n_q, n_k in ((3, 7), (7, 3)):
        q, k, v = rng.normal(size=(n_q, 2)), rng.normal(size=(n_k, 2)), rng.normal(size=(n_k, 2))
        k = rising_keys(q, k) if n_q < n_k else rising_keys(q, k)[::-1].copy()  # later tiles have less, too
        expected = oracle_attention(q, k, v, causal=True)
        for b, c in ((2, 2), (1, 3), (4, 1)):
            output, log_sums = results(student.flash_attention(q, k, v, b, c, is_causal=True), (n_q, 2), (n_q,))
            assert_close(output, expected[0], of=f"O of {n_q} queries and {n_k} keys in tiles of {b} × {c}")
            assert_close(log_sums, expected[1], of=f"L of {n_q} queries and {n_k} keys in tiles of {b} × {c}")


@worth(1.5, "with is_causal, every size of tiles gives the same as one tile", target=FLASH)
def test_flash_causal_in_other_tiles(student, rng):
    q, k, v = rng.normal(size=(3, 7, 2))
    k = rising_keys(q, k)
    blocks = [(7, 7), (2, 2), (3, 2), (2, 5), (1, 4)]
    values = student.flash_attention.call_many([arguments(q, k, v, *one, True) for one in blocks])
    whole, *others = [results(value, (7, 2), (7,)) for value in values]
    assert_close(whole[0][0], v[0], of="O of the first token, which sees only itself")
    for (b, c), (output, log_sums) in zip(blocks[1:], others, strict=True):
        assert_close(output, whole[0], of=f"O in tiles of {b} × {c}")
        assert_close(log_sums, whole[1], of=f"L in tiles of {b} × {c}")


@worth(1, "with is_causal, keys after the last query change nothing", target=FLASH)
def test_flash_causal_with_more_keys(student, rng):
    q, k, v = rng.normal(size=(3, 2)), rng.normal(size=(7, 2)), rng.normal(size=(7, 2))
    calls = [arguments(q, k, v, 2, 2, True), arguments(q, k[:3], v[:3], 2, 2, True)]
    more, same = (results(value, (3, 2), (3,)) for value in student.flash_attention.call_many(calls))
    assert_close(more[0], same[0], of="O")
    assert_close(more[1], same[1], of="L")


@worth(0.5, "a batch gives what its elements give alone", target=FLASH)
def test_flash_of_a_batch_and_its_elements(student, rng):
    q, k, v = rng.normal(size=(3, 2, 4, 3))
    for causal in (False, True):
        calls = [arguments(*one, 2, 3, causal) for one in ((q, k, v), (q[0], k[0], v[0]), (q[1], k[1], v[1]))]
        batch, *alone = student.flash_attention.call_many(calls)
        output, log_sums = results(batch, (2, 4, 3), (2, 4))
        for number, value in enumerate(alone):
            one, one_sums = results(value, (4, 3), (4,))
            assert_close(output[number], one, of=f"O of element {number}")
            assert_close(log_sums[number], one_sums, of=f"L of element {number}")


@worth(2, "later keys and values do not change earlier outputs with is_causal", target=FLASH)
def test_flash_does_not_see_the_future(student, rng):
    q, k, v = rng.uniform(0.5, 1.5, size=(6, 2)), rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    k = rising_keys(q, k)
    other_k, other_v = k.copy(), v.copy()
    other_k[4:], other_v[4:] = other_k[4:] + 5000, other_v[4:] - 7  # a score minus 100 is not blocked
    one, other = student.flash_attention.call_many(
        [arguments(q, k, v, 2, 3, True), arguments(q, other_k, other_v, 2, 3, True)]
    )
    one, other = results(one, (6, 2), (6,)), results(other, (6, 2), (6,))
    assert_close(one[0], oracle_attention(q, k, v, causal=True)[0], of="O")
    assert_close(other[0][:4], one[0][:4], of="O before the change")
    assert_close(other[1][:4], one[1][:4], of="L before the change")


@worth(3, "a later tile with much larger scores, or much smaller ones, is taken in rightly", target=FLASH)
def test_flash_of_rising_and_falling_scores(student, rng):
    levels = np.array([0.0, 0.0, 3.0, 3.0, -4.0, 8.0, 8.0, 1.0])
    q, v = rng.uniform(0.5, 1.5, size=(3, 1)), rng.normal(size=(8, 2))
    k = (levels + rng.uniform(-0.3, 0.3, size=8))[:, None]
    for keys, values in ((k, v), (k[::-1], v[::-1])):
        expected = oracle_attention(q, keys, values)
        output, log_sums = results(student.flash_attention(q, keys, values, 2, 2), (3, 2), (3,))
        assert_close(output, expected[0], of="O")
        assert_close(log_sums, expected[1], of="L")


@worth(1.5, "scores of thousands give finite results", target=FLASH)
def test_flash_of_very_large_scores(student, rng):
    q, v = rng.uniform(0.5, 1.5, size=(4, 1)) * 2000, rng.normal(size=(6, 2))
    q[1] += 3000  # its scores are far above those of query 0, in the same tile
    k = np.array([[1.0], [-1.2], [1.4], [0.1], [0.5], [-0.7]]) + rng.uniform(-0.04, 0.04, size=(6, 1))
    expected = oracle_attention(q, k, v)
    output, log_sums = results(student.flash_attention(q, k, v, 2, 2), (4, 2), (4,))
    assert_close(output, expected[0], of="O")
    assert_close(log_sums, expected[1], of="L")


@worth(0.5, "scores below every usual number, such as -1e9, are scores like others", target=FLASH)
def test_flash_of_very_low_scores(student, rng):
    q, v = np.array([[1.0], [2.0], [1.0], [2.0], [1.0]]), rng.normal(size=(5, 2))
    k = np.array([[0.0], [0.5], [-0.25], [1.0], [0.25]]) - 2.0**34  # exact in float64
    for causal in (False, True):
        expected = oracle_attention(q, k, v, causal)
        output, log_sums = results(student.flash_attention(q, k, v, 2, 2, causal), (5, 2), (5,))
        assert_close(output, expected[0], Tolerance(1e-4, 1e-4), of="O")  # a style that merges log-sums rounds them
        assert_close(log_sums, expected[1], of="L")


@worth(1.5, "each element of a batch is computed alone, with three and four dimensions", target=FLASH)
def test_flash_of_a_batch(student, rng):
    q, k, v = rng.normal(size=(2, 3, 5, 2)), rng.normal(size=(2, 3, 4, 2)), rng.normal(size=(2, 3, 4, 3))
    for causal in (False, True):
        found = student.flash_attention.call_many(
            [arguments(q, k, v, 2, 3, causal), arguments(q[1], k[1], v[1], 2, 3, causal)]
        )
        output, log_sums = results(found[0], (2, 3, 5, 3), (2, 3, 5))
        single, single_sums = results(found[1], (3, 5, 3), (3, 5))
        for place in np.ndindex(2, 3):
            expected = oracle_attention(q[place], k[place], v[place], causal)
            assert_close(output[place], expected[0], of=f"O of element {place}")
            assert_close(log_sums[place], expected[1], of=f"L of element {place}")
        assert_close(single, output[1], of="three dimensions")
        assert_close(single_sums, log_sums[1], of="L of three dimensions")


@worth(1.5, "L is the log-sum of the scaled scores: with it, the weights of every row sum to 1", target=FLASH)
def test_flash_log_sums_normalise(student, rng):
    q, k, v = rng.normal(size=(6, 4)) * 2, rng.normal(size=(5, 4)) + 1, np.eye(5)
    k = rising_keys(q, k)
    output, log_sums = results(student.flash_attention(q, k, v, 4, 2), (6, 5), (6,))
    weights = np.exp(q @ k.T / 2 - array_like(log_sums, (6,))[:, None])
    assert_close(weights.sum(axis=1), np.ones(6), of="the sums of exp(score - L)")
    assert_close(output, weights, of="the output of values that are the identity")


@worth(1, "the order of the keys does not matter, and equal values come out unchanged", target=FLASH)
def test_flash_properties(student, rng):
    q, k, v = rng.normal(size=(4, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    k = rising_keys(q, k)
    order = np.array([3, 5, 0, 2, 4, 1])
    calls = [
        arguments(q, k, v, 2, 4),
        arguments(q, k[order], v[order], 2, 4),
        arguments(q, k, np.full((6, 2), 1.5), 3, 2),
    ]
    plain, mixed, equal = (results(value, (4, 2), (4,)) for value in student.flash_attention.call_many(calls))
    assert_close(mixed[0], plain[0], of="O with the keys in another order")
    assert_close(mixed[1], plain[1], of="L with the keys in another order")
    assert_close(equal[0], np.full((4, 2), 1.5), of="O of equal values")


@worth(1, "flash_attention is right for float32 and for integers", target=FLASH)
def test_flash_of_other_dtypes(student, rng):
    q, k, v = rng.integers(-3, 3, size=(3, 5, 2))
    q[0], k[4] = 3, 3  # the last key has the largest score of query 0
    expected = oracle_attention(q, k, v)
    for kind in (np.float32, np.int64):
        output, log_sums = results(student.flash_attention(*(x.astype(kind) for x in (q, k, v)), 2, 2), (5, 2), (5,))
        assert_close(output, expected[0], SINGLE, of=f"O of {kind.__name__}")
        assert_close(log_sums, expected[1], SINGLE, of=f"L of {kind.__name__}")


@worth(1, "flash_attention returns float32 for float32, and float64 for float64 and integers", target=FLASH)
def test_flash_dtype(student):
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64}
    array = np.array([[1, 2], [0, 1], [3, 1]])
    values = student.flash_attention.call_many([arguments(*[array.astype(kind)] * 3, 2, 2) for kind in kinds])
    for dtype, value in zip(kinds.values(), values, strict=True):
        for one in results(value, (3, 2), (3,)):
            assert_dtype(one, dtype)


@worth(0.75, "different widths of Q and K raise a ValueError that names both", target=FLASH)
def test_flash_widths(student):
    assert_raises(
        ValueError, lambda: student.flash_attention(np.ones((2, 6)), np.ones((3, 9)), np.ones((3, 2)), 1, 1), 6, 9
    )


@worth(0.75, "different lengths of K and V raise a ValueError that names both", target=FLASH)
def test_flash_lengths(student):
    assert_raises(
        ValueError, lambda: student.flash_attention(np.ones((2, 3)), np.ones((6, 3)), np.ones((9, 2)), 4, 4), 6, 9
    )


@worth(0.75, "a block size below 1 raises a ValueError that names it", target=FLASH)
def test_flash_blocks(student):
    q = np.ones((4, 3))
    assert_raises(ValueError, lambda: student.flash_attention(q, q, q, -7, 2), -7)
    assert_raises(ValueError, lambda: student.flash_attention(q, q, q, 2, -9), -9)
    assert_raises(ValueError, lambda: student.flash_attention(q, q, q, 2, 0), 0)


# flash_attention_backward -------------------------------------------------------------------------------


def backward_arguments(q, k, v, d_out, block_q, block_k, causal=False):
    """The arguments of a backward pass, with the right O and L."""
    output, log_sums = oracle_attention(q, k, v, causal)
    return arguments(q, k, v, output, d_out, log_sums, block_q, block_k, causal)


def with_its_forward_pass(call):
    """The call with the O and L of its own Q, K and V."""
    q, k, v, _, d_out, _, block_q, block_k, *causal = call.args
    flat = (one.reshape(-1, *one.shape[-2:]) for one in (q, k, v))
    outputs, log_sums = zip(*(oracle_attention(*one, *causal) for one in zip(*flat, strict=True)), strict=True)
    output = np.array(outputs, d_out.dtype).reshape(d_out.shape)
    sums = np.array(log_sums, d_out.dtype).reshape(d_out.shape[:-1])
    return arguments(q, k, v, output, d_out, sums, block_q, block_k, *causal)


def assert_gradients_close(value, expected, of):
    found = results(value, *(one.shape for one in expected))
    for name, gradient, wanted in zip(("dQ", "dK", "dV"), found, expected, strict=True):
        assert_close(gradient, wanted, SHARP, of=f"{name} {of}")


@worth(4.5, "the gradients agree with complex steps, for every size of tiles", target=BACKWARD)
def test_backward_agrees_with_the_oracle(student, rng, shown):
    q, k, v, d_out = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), rng.normal(size=(5, 2))
    expected = oracle_gradients(q, k, v, d_out)
    blocks = [(1, 1), (2, 3), (3, 2), (5, 4), (9, 9)]
    values = student.flash_attention_backward.call_many([backward_arguments(q, k, v, d_out, *one) for one in blocks])
    for (b, c), value in zip(blocks, values, strict=True):
        assert_gradients_close(value, expected, f"in tiles of {b} × {c}")
    shown(student, BACKWARD, fit=with_its_forward_pass)


@worth(3, "with is_causal, the gradients are those of causal attention", target=BACKWARD)
def test_backward_causal(student, rng):
    q, k, v, d_out = rng.normal(size=(4, 6, 2))
    expected = oracle_gradients(q, k, v, d_out, causal=True)
    blocks = [(1, 1), (2, 2), (4, 3), (2, 5), (6, 6)]
    values = student.flash_attention_backward.call_many(
        [backward_arguments(q, k, v, d_out, *one, True) for one in blocks]
    )
    for (b, c), value in zip(blocks, values, strict=True):
        assert_gradients_close(value, expected, f"in tiles of {b} × {c}")


def forward(q, k, v):
    """O and L of causal attention, as arguments of a backward pass."""
    scores = np.where(np.arange(len(k)) > np.arange(len(q))[:, None], -np.inf, q @ k.T / np.sqrt(q.shape[1]))
    sums = np.exp(scores).sum(axis=1)
    return np.exp(scores) @ v / sums[:, None], np.log(sums)


@worth(1, "with is_causal, every size of tiles gives the gradients of one tile", target=BACKWARD)
def test_backward_causal_in_other_tiles(student, rng):
    q, k, v, d_out = rng.normal(size=(4, 6, 2))
    output, log_sums = forward(q, k, v)
    blocks = [(6, 6), (2, 2), (3, 2), (1, 4)]
    calls = [arguments(q, k, v, output, d_out, log_sums, *one, True) for one in blocks]
    values = student.flash_attention_backward.call_many(calls)
    whole, *others = [results(value, *[(6, 2)] * 3) for value in values]
    for (b, c), gradients in zip(blocks[1:], others, strict=True):
        for name, found, expected in zip(("dQ", "dK", "dV"), gradients, whole, strict=True):
            assert_close(found, expected, SHARP, of=f"{name} in tiles of {b} × {c}")


@worth(1, "with is_causal, keys that no query sees have the gradient 0", target=BACKWARD)
def test_backward_of_unseen_keys(student, rng):
    q, k, v, d_out = rng.normal(size=(3, 2)), rng.normal(size=(6, 2)), rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    output, log_sums = forward(q, k, v)
    found = student.flash_attention_backward(q, k, v, output, d_out, log_sums, 2, 2, True)
    _, d_k, d_v = results(found, (3, 2), (6, 2), (6, 2))
    assert_close(d_k[3:], np.zeros((3, 2)), of="dK after the last query")
    assert_close(d_v[3:], np.zeros((3, 2)), of="dV after the last query")
    assert_close(d_v.sum(axis=0), d_out.sum(axis=0), SHARP, of="the sum of dV over the keys")


@worth(2, "is_causal counts from the top left in the backward pass, too", target=BACKWARD)
def test_backward_causal_of_other_lengths(student, rng):
    for n_q, n_k in ((3, 5), (5, 3)):
        q, k = rng.normal(size=(n_q, 2)), rng.normal(size=(n_k, 2))
        v, d_out = rng.normal(size=(n_k, 2)), rng.normal(size=(n_q, 2))
        value = student.flash_attention_backward.call_many([backward_arguments(q, k, v, d_out, 2, 2, True)])[0]
        assert_gradients_close(value, oracle_gradients(q, k, v, d_out, causal=True), f"of {n_q} queries and {n_k} keys")


@worth(2, "each element of a batch has its own gradients", target=BACKWARD)
def test_backward_of_a_batch(student, rng):
    q, k, v, d_out = rng.normal(size=(4, 2, 2, 3, 2))
    for causal in (False, True):
        parts = [[oracle_attention(q[a, b], k[a, b], v[a, b], causal) for b in range(2)] for a in range(2)]
        output, log_sums = (np.array([[one[i] for one in row] for row in parts]) for i in range(2))
        found = student.flash_attention_backward(q, k, v, output, d_out, log_sums, 2, 2, causal)
        gradients = results(found, *[(2, 2, 3, 2)] * 3)
        for a, b in np.ndindex(2, 2):
            expected = oracle_gradients(q[a, b], k[a, b], v[a, b], d_out[a, b], causal)
            assert_gradients_close(tuple(one[a, b] for one in gradients), expected, f"of element {(a, b)}")


@worth(2, "adding the same number to all entries of V changes neither dQ nor dK", target=BACKWARD)
def test_backward_of_shifted_values(student, rng):
    q, k, v, d_out = rng.normal(size=(4, 5, 3))
    calls = [backward_arguments(q, k, values, d_out, 2, 3) for values in (v, v + 2.5)]
    one, other = (results(value, *[(5, 3)] * 3) for value in student.flash_attention_backward.call_many(calls))
    assert_close(one[0], oracle_gradients(q, k, v, d_out)[0], SHARP, of="dQ")
    assert_close(other[0], one[0], SHARP, of="dQ with other values")
    assert_close(other[1], one[1], SHARP, of="dK with other values")
    assert_close(one[2].sum(axis=0), d_out.sum(axis=0), SHARP, of="the sum of dV over the keys")


@worth(1.5, "very large scores give finite gradients", target=BACKWARD)
def test_backward_of_large_scores(student, rng):
    # The first query sees only a low score, so exp(score - L) of a later key overflows: 0 times that is not a number.
    q, k = rng.uniform(0.5, 1.5, size=(4, 1)) * 900, np.array([[-1.0], [1.0], [1.01], [0.2]])
    v, d_out = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    for causal in (False, True):
        value = student.flash_attention_backward.call_many([backward_arguments(q, k, v, d_out, 2, 2, causal)])[0]
        found = results(value, (4, 1), (4, 1), (4, 2))
        for name, gradient, wanted in zip(
            ("dQ", "dK", "dV"), found, oracle_gradients(q, k, v, d_out, causal), strict=True
        ):
            assert_close(gradient, wanted, Tolerance(1e-7, 1e-9), of=name)


@worth(0.5, "flash_attention_backward is right for float32", target=BACKWARD)
def test_backward_of_float32(student, rng):
    q, k, v, d_out = (one.astype(np.float32) for one in rng.normal(size=(4, 4, 2)))
    output, log_sums = oracle_attention(q, k, v)
    kinds = [x.astype(np.float32) for x in (q, k, v, output, d_out, log_sums)]
    found = results(student.flash_attention_backward(*kinds, 2, 3), *[(4, 2)] * 3)
    for gradient, wanted in zip(found, oracle_gradients(*(x.astype(float) for x in (q, k, v, d_out))), strict=True):
        assert_close(gradient, wanted, SINGLE)


@worth(0.5, "flash_attention_backward returns float32 for float32, and float64 for float64", target=BACKWARD)
def test_backward_dtype(student):
    for kind in (np.float32, np.float64):
        array = np.array([[1, 2], [0, 1], [3, 1]], kind)
        found = student.flash_attention_backward(*[array] * 5, np.full(3, 5, kind), 2, 2)
        for gradient in results(found, *[(3, 2)] * 3):
            assert_dtype(gradient, kind)


@worth(1, "the backward pass raises the errors of the forward pass", target=BACKWARD)
def test_backward_refusals(student):
    q, o, log_sums = np.ones((2, 6)), np.ones((2, 4)), np.ones(2)
    assert_raises(
        ValueError,
        lambda: student.flash_attention_backward(q, np.ones((3, 9)), np.ones((3, 4)), o, o, log_sums, 1, 1),
        6,
        9,
    )
    assert_raises(
        ValueError,
        lambda: student.flash_attention_backward(q, np.ones((5, 6)), np.ones((7, 4)), o, o, log_sums, 1, 1),
        5,
        7,
    )
    assert_raises(
        ValueError, lambda: student.flash_attention_backward(q, q, np.ones((2, 4)), o, o, log_sums, 3, -8), -8
    )


# reflect ------------------------------------------------------------------------------------------------


def number(value):
    """Return a student's number of any type as a finite float, or fail."""
    if type(value) is int:
        assert abs(value) < 2**1000, "the number is too large"
    return float(array_like(np.float64(value) if type(value) in (int, float) else value, (), of="the number"))


@worth(1, "the bytes of the scores of 8192 tokens are right", target="reflect")
def test_reflect_bytes(student):
    assert_close(student.REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32, 268435456)


@worth(0.5, "each of the 8192² scores has 32 bits", target="reflect")
def test_reflect_bits_of_a_score(student):
    assert_close(8 * number(student.REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32) / 8192**2, 32.0)


@worth(1, "the number of causal tiles for 1024 tokens is right", target="reflect")
def test_reflect_tiles(student):
    assert_close(student.REFLECT_CAUSAL_TILES_N1024_B128, 36)


@worth(0.5, "the tiles below the diagonal are as many as those above it, and 8 are on it", target="reflect")
def test_reflect_tiles_of_both_halves(student):
    assert_close(2 * (number(student.REFLECT_CAUSAL_TILES_N1024_B128) - 8) + 8, 64.0)

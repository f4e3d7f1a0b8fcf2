"""Hidden suite of 01_softmax. Its oracles use logaddexp and exact arithmetic, not the solution's formula."""

import numpy as np

from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    assert_rows_sum_to_one,
    spread_numbers,
    worth,
)


def is_float64(call):
    return call.args[0].dtype == np.float64


def oracle_log_softmax(x, axis=-1):
    """Compute log-softmax by repeated logaddexp, without subtracting a maximum from a slice."""
    x = np.asarray(x, dtype=np.float64)
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


def oracle_softmax(x, axis=-1):
    return np.exp(oracle_log_softmax(x, axis))


def assert_dtypes(function, *arguments_after):
    """Assert that float32 gives float32, float64 gives float64 and integers give float64."""
    x = np.array([[1, 2, 4], [0, 3, 1]])
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    results = function.call_many([arguments(x.astype(kind), *arguments_after) for kind in kinds])
    for result, expected in zip(results, kinds.values(), strict=True):
        assert_dtype(result, expected)


FAR_APART = np.array([[0.0, -2000.0, -1.0], [5000.0, 1.0, 4999.0], [-900.0, -901.0, -1e5]])


# softmax ------------------------------------------------------------------------------------------------


@worth(3, "softmax is right for random arrays of many shapes")
def test_softmax_agrees_with_the_oracle(student, rng):
    inputs = [rng.normal(scale=3.0, size=shape) for shape in [(1,), (7,), (3, 5), (2, 3, 4), (2, 1, 3, 1, 2), (1000,)]]
    results = student.softmax.call_many([arguments(x=x) for x in inputs])
    for x, result in zip(inputs, results, strict=True):
        assert_close(result, oracle_softmax(x), of=f"softmax of shape {x.shape}")


@worth(2, "softmax is right along every axis")
def test_softmax_along_every_axis(student, rng, shown):
    cube, slab = rng.normal(size=(3, 3, 3)), rng.normal(size=(2, 3, 4))  # on a cube a wrong axis has the right shape
    cases = [(x, axis) for x in (cube, slab) for axis in (0, 1, 2, -1, -2, -3)]
    cases += [(rng.normal(size=(2, 3, 2, 3)), axis) for axis in (1, -4)]
    results = student.softmax.call_many([arguments(x, axis=axis) for x, axis in cases])
    for (x, axis), result in zip(cases, results, strict=True):
        assert_close(result, oracle_softmax(x, axis), of=f"shape {x.shape}, axis={axis}")
    shown(student, "softmax", arguments(np.zeros((3, 7))), where=is_float64)


@worth(1.5, "the weights sum to 1 along the given axis")
def test_softmax_sums_to_one_along_its_axis(student, rng):
    x = rng.normal(size=(4, 4))
    for axis, result in enumerate(student.softmax.call_many([arguments(x, 0), arguments(x, axis=1)])):
        assert_rows_sum_to_one(result, x.shape, axis=axis)
        sums = array_like(result, x.shape).sum(axis=axis)
        assert_close(sums, np.ones(4), Tolerance(0.0, 1e-10), of=f"the sums along axis {axis}")


@worth(1.5, "each row of a square array sums to 1")
def test_softmax_square_rows(student, rng):
    assert_rows_sum_to_one(student.softmax(rng.normal(size=(4, 4))), (4, 4))


@worth(2.5, "adding the same number to every score of a row does not change its softmax, however large the number is")
def test_softmax_shift_invariance(student, rng):
    x = rng.integers(-8, 8, size=(4, 6)).astype(np.float64)  # integers: the shift itself rounds nothing
    shifts = np.array([[-2000.0], [0.0], [1000.0], [2000.0]])
    low = (x + 100).astype(np.float32)
    plain, shifted, single = student.softmax.call_many([arguments(x), arguments(x + shifts), arguments(low)])
    assert_rows_sum_to_one(plain, x.shape)
    assert_close(array_like(shifted, x.shape), array_like(plain, x.shape))
    assert_close(array_like(single, x.shape), array_like(plain, x.shape).astype(np.float32), of="float32, plus 100")


@worth(1.5, "scores of 1000 and more do not overflow")
def test_softmax_of_large_scores(student):
    x = np.array([[1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1003.0], [1e5, 1e5 - 1, 1e5 - 3]])
    low = np.array([[90.0, 91.0, 92.0], [-200.0, -201.0, -203.0]], dtype=np.float32)  # np.exp(90) is too large there
    exact, single = student.softmax.call_many([arguments(x), arguments(low)])
    assert_close(exact, oracle_softmax(x))
    assert_close(single, oracle_softmax(low).astype(np.float32), of="float32")


@worth(1.5, "a row of low scores has the right weights next to a row of high scores")
def test_softmax_of_rows_far_apart(student):
    x = np.array([[900.0, 901.0, 899.0], [-900.0, -901.0, -902.0], [0.0, 1.0, 2.0]])
    row, column = student.softmax.call_many([arguments(x), arguments(x.T.copy(), axis=0)])
    assert_close(row, oracle_softmax(x))
    assert_close(column, oracle_softmax(x).T, of="axis=0")


@worth(1, "scores in one row that are thousands apart give weights of 1 and 0")
def test_softmax_within_a_wide_row(student):
    x = np.array([[2000.0, 0, 0, -9000], [0, 0, 0, 20000.0], [-30000.0, -1000, -1000, -30000]])
    row, column = student.softmax.call_many([arguments(x), arguments(x.T.copy(), axis=0)])
    expected = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1], [0, 0.5, 0.5, 0]])
    assert_close(row, expected)
    assert_close(column, expected.T, of="axis=0")


@worth(0.5, "all digits of a very small weight are right")
def test_softmax_of_tiny_weights(student):
    weights = array_like(student.softmax(np.array([0.0, -40.0, -300.0, -600.0])), (4,))
    assert (weights > 0).all(), "a weight is 0, but its true value fits into a float64"
    assert_close(np.log(weights), np.array([0.0, -40.0, -300.0, -600.0]), Tolerance(1e-9, 1e-10), of="their logarithms")


@worth(1, "a larger score gets a larger weight")
def test_softmax_keeps_the_order(student, rng):
    x = np.cumsum(rng.uniform(1.5, 2.0, size=(5, 6)), axis=-1)
    x -= (x[:, :1] + x[:, -1:]) / 2  # 50 * x has two scores above 100 in every row, and the smallest weight is not 0
    for result in student.softmax.call_many([arguments(x), arguments(50 * x)]):
        assert (np.diff(array_like(result, x.shape), axis=-1) > 0).all(), "a larger score did not get a larger weight"


@worth(1, "the result of softmax does not depend on earlier calls")
def test_softmax_does_not_remember(student, rng):
    x, other = rng.normal(size=(3, 4)), 50 * rng.normal(size=(3, 4))
    calls = [arguments(x), arguments(other), arguments(x), arguments(x[:, ::-1].copy())]
    first, _, again, turned = student.softmax.call_many(calls)
    assert_rows_sum_to_one(first, x.shape)
    assert_close(again, array_like(first, x.shape), of="the same call again")
    assert_close(turned, array_like(first, x.shape)[:, ::-1], of="the same scores in reverse order")


@worth(1.5, "softmax gives the right values for float32 and for integers")
def test_softmax_of_other_dtypes(student, rng, shown):
    x = rng.integers(-20, 20, size=(3, 5))
    low, high = rng.permutation(5)[:2]
    x[1, low], x[1, high] = -49, 49  # 98 apart: in float32, np.exp(98) is too large
    cases = [(kind, axis) for kind in (np.float32, np.int64, np.int32) for axis in (-1, 0)]
    results = student.softmax.call_many([arguments(x.astype(kind), axis=axis) for kind, axis in cases])
    for (kind, axis), result in zip(cases, results, strict=True):
        expected = oracle_softmax(x, axis).astype(np.float32 if kind is np.float32 else np.float64)
        assert_close(result, expected, of=f"{kind.__name__}, axis={axis}")
    shown(student, "softmax", where=lambda call: not is_float64(call))


@worth(0.5, "softmax returns float32 for float32, and float64 for float64 and integers")
def test_softmax_dtype(student):
    assert_dtypes(student.softmax)


# log_softmax --------------------------------------------------------------------------------------------


@worth(2.2, "log_softmax is right along every axis", target="log_softmax")
def test_log_softmax_agrees_with_the_oracle(student, rng, shown):
    arrays = [rng.normal(scale=3.0, size=shape) for shape in [(3, 3, 3), (2, 3, 4), (2, 1, 3, 2)]]
    cases = [(x, axis) for x in arrays for axis in range(-x.ndim, x.ndim)]
    results = student.log_softmax.call_many([arguments(x, axis=axis) for x, axis in cases])
    for (x, axis), result in zip(cases, results, strict=True):
        assert_close(result, oracle_log_softmax(x, axis), of=f"shape {x.shape}, axis={axis}")
    row, single = student.log_softmax.call_many([arguments(x=arrays[1]), arguments(np.array([3.0]))])
    assert_close(row, oracle_log_softmax(arrays[1]), of="no axis given")
    assert_close(single, np.array([0.0]), of="a single score")
    shown(student, "log_softmax", where=is_float64)


@worth(0.4, "log_softmax gives the right values for float32 and for integers", target="log_softmax")
def test_log_softmax_of_other_dtypes(student, rng, shown):
    # Close together, because the logarithm must matter in every row; and far from 0, because rounding must not matter.
    x = rng.integers(-9, 10, size=(3, 5)) + np.array([[40], [0], [-40]])
    kinds = [np.float32, np.int64, np.int32]
    for kind, result in zip(kinds, student.log_softmax.call_many([arguments(x.astype(k)) for k in kinds]), strict=True):
        expected = oracle_log_softmax(x).astype(np.float32 if kind is np.float32 else np.float64)
        # Scores of 50 have an error of 4e-6 in float32, however small their difference is.
        tolerance = Tolerance(2e-5, 1e-5) if kind is np.float32 else None
        assert_close(result, expected, tolerance, of=kind.__name__)
    shown(student, "log_softmax", arguments(np.array([0, 1])), where=lambda call: not is_float64(call))


@worth(1, "log_softmax is finite, however far apart the scores are", target="log_softmax")
def test_log_softmax_is_finite(student):
    exact, low = student.log_softmax.call_many([arguments(FAR_APART), arguments(FAR_APART.astype(np.float32))])
    assert_rows_sum_to_one(np.exp(array_like(exact, FAR_APART.shape)), FAR_APART.shape)
    # In float32 a score of 5000 has only three decimals, so this tolerance on the sum is loose.
    sums = np.exp(array_like(low, FAR_APART.shape, of="float32")).sum(axis=-1)
    assert_close(sums, np.ones(3), Tolerance(0.0, 1e-2), of="the sums in float32")


@worth(1, "log_softmax is right for scores that are thousands apart", target="log_softmax")
def test_log_softmax_of_scores_far_apart(student):
    row, column = student.log_softmax.call_many([arguments(FAR_APART), arguments(FAR_APART.T.copy(), axis=0)])
    assert_close(row, oracle_log_softmax(FAR_APART))
    assert_close(column, oracle_log_softmax(FAR_APART).T, of="axis=0")


@worth(
    0.6,
    "log_softmax shifts all scores of a row by the same number, and the exponentials of the row sum to 1",
    target="log_softmax",
)
def test_log_softmax_is_normalised(student, rng):
    x = rng.normal(size=(4, 4))
    wide = 100 * x
    *both, apart = student.log_softmax.call_many([arguments(x, 0), arguments(x), arguments(wide)])
    for axis, result in enumerate(both):
        assert_rows_sum_to_one(np.exp(array_like(result, x.shape)), x.shape, axis=axis)
    assert_close(
        np.diff(array_like(apart, x.shape), axis=-1),
        np.diff(wide, axis=-1),
        Tolerance(1e-9, 1e-9),
        of="differences along a row",
    )


@worth(0.3, "log_softmax returns float32 for float32, and float64 for float64 and integers", target="log_softmax")
def test_log_softmax_dtype(student):
    assert_dtypes(student.log_softmax)


# softmax_with_temperature -------------------------------------------------------------------------------


@worth(2.2, "the scores are divided by the temperature", target="softmax_with_temperature")
def test_temperature_agrees_with_the_oracle(student, rng, shown):
    cases = [
        (spread_numbers(rng, shape, 8.0, axis), temperature, axis)  # at 0.01, the scores are 800 apart
        for shape in [(3, 3), (2, 3, 4)]
        for temperature, axis in [(0.5, -1), (1.0, 0), (3.0, 0), (2, 1), (1e4, -1), (0.01, 1)]
    ]
    calls = [arguments(x, temperature=temperature, axis=axis) for x, temperature, axis in cases]
    for (x, t, axis), result in zip(cases, student.softmax_with_temperature.call_many(calls), strict=True):
        assert_close(result, oracle_softmax(x / t, axis), of=f"shape {x.shape}, temperature={t}, axis={axis}")
    x, t, _ = cases[0]
    assert_close(
        student.softmax_with_temperature(x, t, 0), oracle_softmax(x / t, 0), of="axis as a positional argument"
    )
    shown(student, "softmax_with_temperature", *(arguments(np.zeros(5), t) for t in (0.5, 1, 2, 100)), where=is_float64)


@worth(0.4, "a temperature works for float32 and for integers", target="softmax_with_temperature")
def test_temperature_of_other_dtypes(student, rng, shown):
    x = rng.integers(-9, 9, size=(3, 5))
    x[0, 0] = 8  # divided by 1/16 it is 128, and np.exp(128) is too large for float32
    cases = [(kind, temperature) for kind in (np.float32, np.int64, np.int32) for temperature in (4, 0.0625)]
    results = student.softmax_with_temperature.call_many([arguments(x.astype(kind), t) for kind, t in cases])
    for (kind, temperature), result in zip(cases, results, strict=True):
        expected = oracle_softmax(x / temperature).astype(np.float32 if kind is np.float32 else np.float64)
        assert_close(result, expected, of=f"{kind.__name__}, temperature={temperature}")
    shown(student, "softmax_with_temperature", where=lambda call: not is_float64(call))


@worth(
    0.5, "scaling the scores and the temperature by the same factor changes nothing", target="softmax_with_temperature"
)
def test_temperature_has_no_scale(student, rng):
    x = rng.normal(size=(3, 4))
    powers = [2.0**-30, 1.0, 2.0**30]  # powers of 2: scaling rounds nothing
    small, plain, large = student.softmax_with_temperature.call_many([arguments(p * x, p * 1.5) for p in powers])
    assert_rows_sum_to_one(plain, x.shape)
    assert_close(small, array_like(plain, x.shape), of="both very small")
    assert_close(large, array_like(plain, x.shape), of="both very large")


@worth(1, "a higher temperature gives flatter weights", target="softmax_with_temperature")
def test_temperature_flattens(student, rng):
    x = rng.normal(size=(4, 5))
    calls = [arguments(x, temperature) for temperature in (0.25, 1.0, 4.0, 64.0, 1e3)]
    results = student.softmax_with_temperature.call_many(calls)
    for result in results:
        assert_rows_sum_to_one(result, x.shape)
    largest = [array_like(result, x.shape).max(axis=-1) for result in results]
    assert (np.diff(np.stack(largest), axis=0) < 0).all(), "the largest weight did not shrink"


@worth(0.8, "near a temperature of 0, the largest score gets all the weight", target="softmax_with_temperature")
def test_temperature_near_zero(student):
    x = np.array([[3.0, 1.0, 2.0], [-2.0, -1.0, -1.5]])
    calls = [arguments(x, 1e-3), arguments(x / 1024, 1e-6), arguments(x, 1e-3, axis=0)]
    coarse, fine, columns = student.softmax_with_temperature.call_many(calls)
    assert_close(coarse, np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    assert_close(fine, np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    assert_close(columns, np.array([[1.0, 1.0, 1.0], [0, 0, 0]]), of="axis=0")


@worth(1.2, "a temperature of 0 or below raises a ValueError that names it", target="softmax_with_temperature")
def test_temperature_must_be_positive(student, rng):
    for temperature in (0, -0.5, -int(rng.integers(3, 1000))):
        assert_raises(ValueError, lambda t=temperature: student.softmax_with_temperature(np.ones(3), t), temperature)


@worth(
    0.4,
    "softmax_with_temperature returns float32 for float32, and float64 for float64 and integers",
    target="softmax_with_temperature",
)
def test_temperature_dtype(student):
    assert_dtypes(student.softmax_with_temperature, 2.0)


# reflect ------------------------------------------------------------------------------------------------


@worth(0.5, "the largest safe exponent of float32 is right", target="reflect")
def test_reflect_float32(student):
    assert_close(student.REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, 88)


@worth(0.5, "the largest safe exponent of float64 is right", target="reflect")
def test_reflect_float64(student):
    assert_close(student.REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64, 709)

"""Hidden suite of 01_softmax. Oracles are independent of the solution: logaddexp and exact arithmetic."""

import numpy as np

from grader.testing import (
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    assert_rows_sum_to_one,
    assert_unmodified,
    worth,
)


def oracle_log_softmax(x, axis=-1):
    """Log-softmax by repeated logaddexp in long double: no maximum is ever subtracted."""
    x = np.asarray(x, dtype=np.longdouble)
    total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return (x - total).astype(np.float64)


def oracle_softmax(x, axis=-1):
    return np.exp(oracle_log_softmax(x, axis))


# softmax ------------------------------------------------------------------------------------------------


@worth(4, "softmax agrees with an independent formula on random arrays of many shapes")
def test_softmax_agrees_with_the_oracle(student, rng):
    inputs = [rng.normal(scale=3.0, size=shape) for shape in [(1,), (7,), (3, 5), (2, 3, 4), (2, 1, 3, 2)]]
    results = student.softmax.callmany([arguments(x) for x in inputs])
    for x, result in zip(inputs, results, strict=True):
        assert_close(result, oracle_softmax(x), of=f"softmax of shape {x.shape}")


@worth(2, "softmax works along whichever axis is asked for")
def test_softmax_axis(student, rng):
    x = rng.normal(size=(3, 3, 3))  # a cube: a wrong axis has the right shape
    axes = [0, 1, 2, -2]
    for axis, result in zip(axes, student.softmax.callmany([arguments(x, axis=a) for a in axes]), strict=True):
        assert_close(result, oracle_softmax(x, axis), of=f"axis={axis}")


@worth(2, "each row of a square softmax is a distribution of its own")
def test_softmax_square_rows(student, rng):
    assert_rows_sum_to_one(student.softmax(rng.normal(size=(4, 4))), (4, 4))


@worth(2.5, "adding one number to a whole row leaves its softmax as it was")
def test_softmax_shift_invariance(student, rng):
    x = rng.integers(-8, 8, size=(4, 6)).astype(np.float64)  # integers: the shift itself rounds nothing
    shifts = rng.integers(-500, 500, size=(4, 1))
    plain, shifted = student.softmax.callmany([arguments(x), arguments(x + shifts)])
    assert_rows_sum_to_one(plain, x.shape)
    assert_close(array_like(shifted, x.shape), array_like(plain, x.shape))


@worth(1.6, "scores of 1000 and more do not overflow")
def test_softmax_large_scores(student):
    x = np.array([[1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1003.0]])
    assert_close(student.softmax(x), oracle_softmax(x))


@worth(2, "a row of low scores keeps its weights beside a row of high ones")
def test_softmax_rows_of_different_size(student):
    x = np.array([[900.0, 901.0, 899.0], [-900.0, -901.0, -902.0], [0.0, 1.0, 2.0]])
    assert_close(student.softmax(x), oracle_softmax(x))


@worth(1, "a larger score never gets a smaller weight")
def test_softmax_keeps_the_order(student, rng):
    x = np.sort(rng.normal(size=(5, 6)), axis=-1)
    weights = array_like(student.softmax(x), x.shape)
    assert (np.diff(weights, axis=-1) > 0).all(), "a larger score got a smaller weight"


@worth(1, "softmax leaves its input as it was")
def test_softmax_leaves_its_input(student, rng):
    x = rng.normal(size=(3, 4))
    call = student.softmax.call(x)
    assert_close(call.value, oracle_softmax(x))
    assert_unmodified(call, x)


@worth(0.5, "softmax keeps float32 and float64, and makes float64 of integers")
def test_softmax_dtype(student):
    x = np.array([[1, 2, 4], [0, 3, 1]])
    kinds = [np.float32, np.float64, np.int64]
    results = student.softmax.callmany([arguments(x.astype(kind)) for kind in kinds])
    for kind, result in zip(kinds, results, strict=True):
        assert_dtype(result, np.float64 if kind is np.int64 else kind)


@worth(1.5, "softmax of float32 and integer input has the right values")
def test_softmax_of_other_dtypes(student, rng):
    x = rng.integers(-50, 50, size=(3, 5))
    low, whole = student.softmax.callmany([arguments(x.astype(np.float32)), arguments(x)])
    assert_close(low, oracle_softmax(x).astype(np.float32), of="float32")
    assert_close(whole, oracle_softmax(x), of="integers")


# log_softmax --------------------------------------------------------------------------------------------


@worth(3, "log_softmax agrees with an independent formula along every axis", target="log_softmax")
def test_log_softmax_agrees_with_the_oracle(student, rng):
    x = rng.normal(scale=3.0, size=(3, 3, 3))
    axes = [-1, 0, 1]
    results = student.log_softmax.callmany([arguments(x), *(arguments(x, axis=a) for a in axes[1:])])
    for axis, result in zip(axes, results, strict=True):
        assert_close(result, oracle_log_softmax(x, axis), of=f"axis={axis}")


@worth(2, "log_softmax is finite and right for scores thousands apart", target="log_softmax")
def test_log_softmax_far_apart(student):
    x = np.array([[0.0, -2000.0, -1.0], [5000.0, 1.0, 4999.0]])
    assert_close(student.log_softmax(x), oracle_log_softmax(x))


@worth(1, "the exponentials of log_softmax sum to one", target="log_softmax")
def test_log_softmax_is_normalised(student, rng):
    x = rng.normal(size=(4, 4))
    logs = array_like(student.log_softmax(x), x.shape)
    assert logs.max() <= 0, "the logarithm of a weight cannot be above 0"
    assert_rows_sum_to_one(np.exp(logs), x.shape)


@worth(1, "log_softmax leaves its input as it was", target="log_softmax")
def test_log_softmax_leaves_its_input(student, rng):
    x = rng.normal(size=(3, 4))
    call = student.log_softmax.call(x, axis=0)
    assert_close(call.value, oracle_log_softmax(x, 0))
    assert_unmodified(call, x)


@worth(0.4, "log_softmax keeps float32 and float64, and makes float64 of integers", target="log_softmax")
def test_log_softmax_dtype(student):
    x = np.array([[1, 2, 4], [0, 3, 1]])
    kinds = [np.float32, np.float64, np.int64]
    results = student.log_softmax.callmany([arguments(x.astype(kind)) for kind in kinds])
    for kind, result in zip(kinds, results, strict=True):
        assert_dtype(result, np.float64 if kind is np.int64 else kind)


# softmax_with_temperature -------------------------------------------------------------------------------


@worth(3, "a temperature divides the scores", target="softmax_with_temperature")
def test_temperature_agrees_with_the_oracle(student, rng):
    x = rng.normal(scale=2.0, size=(3, 3))
    cases = [(0.5, -1), (1.0, 0), (3.0, 0), (2, -1)]
    calls = [arguments(x, temperature, axis=axis) for temperature, axis in cases]
    for (t, axis), result in zip(cases, student.softmax_with_temperature.callmany(calls), strict=True):
        assert_close(result, oracle_softmax(x / t, axis), of=f"temperature={t}, axis={axis}")


@worth(1.5, "a higher temperature gives flatter weights", target="softmax_with_temperature")
def test_temperature_flattens(student, rng):
    x = rng.normal(size=(4, 5))
    temperatures = [0.25, 1.0, 4.0, 64.0]
    calls = [arguments(x, t) for t in temperatures]
    results = student.softmax_with_temperature.callmany(calls)
    largest = [array_like(result, x.shape).max(axis=-1) for result in results]
    assert (np.diff(np.stack(largest), axis=0) < 0).all(), "the largest weight did not shrink"


@worth(1, "a low temperature and high scores do not overflow", target="softmax_with_temperature")
def test_temperature_near_zero(student):
    x = np.array([[3.0, 1.0, 2.0], [-1.0, -2.0, -1.5]])
    assert_close(student.softmax_with_temperature(x, 1e-3), np.array([[1.0, 0, 0], [1.0, 0, 0]]))


@worth(1, "a temperature of 0 or below is a ValueError that names it", target="softmax_with_temperature")
def test_temperature_must_be_positive(student):
    for temperature in (0, -1.5):
        assert_raises(
            ValueError,
            lambda t=temperature: student.softmax_with_temperature(np.ones(3), t),
            temperature,
        )


@worth(0.6, "a temperature leaves its input as it was", target="softmax_with_temperature")
def test_temperature_leaves_its_input(student, rng):
    x = rng.normal(size=(2, 3))
    call = student.softmax_with_temperature.call(x, 2.0)
    assert_close(call.value, oracle_softmax(x / 2.0))
    assert_unmodified(call, x, 2.0)


@worth(0.4, "a temperature keeps float32 and float64", target="softmax_with_temperature")
def test_temperature_dtype(student):
    x = np.array([[1.0, 2.0, 4.0]])
    kinds = [np.float32, np.float64]
    results = student.softmax_with_temperature.callmany([arguments(x.astype(kind), 2.0) for kind in kinds])
    for kind, result in zip(kinds, results, strict=True):
        assert_dtype(result, kind)


# reflect ------------------------------------------------------------------------------------------------


@worth(0.5, "the largest safe exponent of float32", target="reflect")
def test_reflect_float32(student):
    assert_close(student.REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, 88)


@worth(0.5, "the largest safe exponent of float64", target="reflect")
def test_reflect_float64(student):
    assert_close(student.REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64, 709)

"""The assertions of the checks as an instructor would define them in a notebook."""

import re

import numpy as np


def array_like(value, shape):
    array = np.asarray(value, dtype=float)
    assert array.shape == shape, f"the result has the shape {array.shape}, expected {shape}"
    assert np.isfinite(array).all(), "the result holds values that are NaN or infinite"
    return array


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-10)
    assert np.shape(actual) == np.shape(expected), f"the result has the shape {np.shape(actual)}"


def assert_rows_sum_to_one(value, shape):
    weights = array_like(value, shape)
    assert (weights >= 0).all(), "a weight is negative"
    assert_close(weights.sum(axis=-1), np.ones(shape[:-1]))


def assert_raises(kind, call, *numbers):
    try:
        call()
    except kind as error:
        named = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", str(error))]
        assert set(numbers) <= set(named), f"the message should name {numbers}: {error}"
    else:
        raise AssertionError(f"expected a {kind.__name__}")


def after(function, *arguments):
    return function(*arguments), arguments[0]

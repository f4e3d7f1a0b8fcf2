import math
import numbers
import warnings

import numpy as np

__all__ = ["softmax", "log_softmax", "softmax_with_temperature"]


def _check_array(x):
    if isinstance(x, (str, bytes)):
        raise TypeError(f"expected an array of numbers, got {type(x).__name__}")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise TypeError(f"cannot make an array of {x!r}") from error
    else:
        if array.dtype == object or array.dtype.kind not in "fiub":
            raise TypeError(f"expected real numbers, got dtype {array.dtype}")
        if array.size == 0:
            raise ValueError(f"expected at least one score, got shape {array.shape}")
        if not np.isfinite(array).all():
            warnings.warn("some scores are not finite", RuntimeWarning, stacklevel=3)
        if array.dtype.kind != "f":
            array = array.astype(np.float64)
        return array


def _check_axis(array, axis):
    if isinstance(axis, bool) or not isinstance(axis, numbers.Integral):
        raise TypeError(f"axis should be an integer, got {axis!r}")
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis {axis} is out of range for an array of {array.ndim} dimensions")
    return int(axis) % array.ndim


def softmax(x, axis=-1):
    array = _check_array(x)
    axis = _check_axis(array, axis)
    shifted = array - array.max(axis=axis, keepdims=True)
    weights = np.exp(shifted)
    weights /= weights.sum(axis=axis, keepdims=True)
    assert weights.shape == array.shape, f"{weights.shape} != {array.shape}"
    assert weights.dtype == array.dtype, f"{weights.dtype} != {array.dtype}"
    return weights


def log_softmax(x, axis=-1):
    array = _check_array(x)
    axis = _check_axis(array, axis)
    shifted = array - array.max(axis=axis, keepdims=True)
    result = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    assert result.shape == array.shape, f"{result.shape} != {array.shape}"
    return result


def softmax_with_temperature(x, temperature, axis=-1):
    if not isinstance(temperature, numbers.Real) and np.ndim(temperature) != 0:
        raise TypeError(f"temperature should be one number, got {type(temperature).__name__}")
    if math.isnan(temperature) or temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    array = _check_array(x)
    return softmax(array / array.dtype.type(temperature), axis=axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

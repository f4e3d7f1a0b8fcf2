"""softmax from log_softmax, and both from one log-sum-exp; generators walk over the slices."""
import numpy as np
from functools import wraps


def floats(function):
    @wraps(function)
    def wrapped(x, *args, **kwargs):
        x = np.asanyarray(x)
        return function(x if np.dtype(x.dtype).kind == "f" else np.float64(x), *args, **kwargs)

    return wrapped


def slices(x, axis):
    yield from (x.take(i, axis=axis) for i in range(x.shape[axis]))


def logsumexp(x, axis):
    parts = slices(x, axis)
    top = next(parts)
    for part in parts:
        top = np.maximum(top, part)
    total = sum(np.exp(part - top) for part in slices(x, axis))
    return np.expand_dims(top, axis), np.expand_dims(np.log(total), axis)


@floats
def log_softmax(x, axis=-1):
    top, log_total = logsumexp(x, axis)
    return (x - top) - log_total


@floats
def softmax(x, axis=-1):
    return np.exp(log_softmax(x, axis=axis))


@floats
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("the temperature is " + str(temperature))
    return np.exp(log_softmax(x / float(temperature), axis=axis))


def largest(dtype):
    with np.errstate(over="ignore"):
        return max(n for n in range(1000) if np.isfinite(np.exp(dtype(n))))


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = largest(np.float32)
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = largest(np.float64)

"""softmax from log_softmax, and both from one log-sum-exp by logaddexp; a decorator makes floats of integers."""
import numpy as np
from functools import wraps


def floats(function):
    @wraps(function)
    def wrapped(x, *args, **kwargs):
        x = np.asanyarray(x)
        return function(x if np.dtype(x.dtype).kind == "f" else np.float64(x), *args, **kwargs)

    return wrapped


@floats
def log_softmax(x, axis=-1):
    top = np.expand_dims(x.max(axis), axis)
    return (x - top) - np.logaddexp.reduce(x - top, axis=axis, keepdims=True)


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

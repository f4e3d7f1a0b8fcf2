import numpy as np


def _prepare(x, axis):
    x = np.array(x, copy=True, subok=False, ndmin=0)
    if x.dtype.kind != "f":
        x = x * 1.0
    return np.subtract(x, np.max(x, axis=axis, keepdims=True))


def log_softmax(x, axis=-1):
    # logaddexp(a, b) = log(exp(a) + exp(b)), so its reduction is the logarithm of the sum of exponentials
    shifted = _prepare(x, axis)
    return shifted - np.logaddexp.reduce(shifted, axis=axis, keepdims=True)


def softmax(x, axis=-1):
    # the exponential of the logarithm
    return np.exp(log_softmax(x, axis))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"cannot use a temperature of {temperature}")
    x = np.asarray(x)
    return softmax(np.divide(x, temperature, dtype=x.dtype if x.dtype.kind == "f" else None), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

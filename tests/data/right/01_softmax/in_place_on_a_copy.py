import numpy as np


def _copy(x):
    return x.astype(np.float64 if x.dtype.kind in "iu" else x.dtype)


def _softmax_(y, axis):
    y -= y.max(axis=axis, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=axis, keepdims=True)
    return y


def softmax(x, axis=-1):
    return _softmax_(_copy(x), axis)


def log_softmax(x, axis=-1):
    y = _copy(x)
    y -= y.max(axis=axis, keepdims=True)
    y -= np.log(np.exp(y).sum(axis=axis, keepdims=True))
    return y


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(temperature)
    y = _copy(x)
    # the temperature after the maximum: the same weights
    y -= y.max(axis=axis, keepdims=True)
    y /= temperature
    return _softmax_(y, axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

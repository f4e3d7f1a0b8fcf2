"""Ines: right numbers, but the caller's array is used as scratch paper, and everything becomes float64."""

import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    x = np.array(x, dtype=np.float64)
    x -= x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    return softmax(np.asarray(x) / np.float64(temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

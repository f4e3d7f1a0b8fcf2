"""Emil: the formula as it stands in the book."""

import numpy as np


def softmax(x, axis=-1):
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not positive")
    return softmax(x / float(temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

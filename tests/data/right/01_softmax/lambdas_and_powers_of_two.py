import math

import numpy as np

real = lambda x: x if x.dtype.kind == "f" else x / 1
shift = lambda x, axis: x - np.amax(x, axis=axis, keepdims=True)
power = lambda y: np.exp2(y * math.log2(math.e))
share = lambda e, axis: e * np.reciprocal(np.sum(e, axis=axis, keepdims=True))

softmax = lambda x, axis=-1: share(power(shift(real(x), axis)), axis)


def log_softmax(x, axis=-1):
    y = shift(real(x), axis)
    return y - np.log2(power(y).sum(axis, keepdims=True)) * math.log(2)


def softmax_with_temperature(x, temperature, axis=-1):
    if not 0 < temperature < math.inf:
        raise ValueError("temperature=%s" % temperature)
    # the temperature after the maximum: the same weights
    return share(power(shift(real(x), axis) / temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = math.floor(128 * math.log(2))
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = math.floor(1024 * math.log(2))

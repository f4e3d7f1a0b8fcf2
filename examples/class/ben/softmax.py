# Ben: plain Python loops over one slice at a time, and a print to see what is going on.
import math

import numpy as np

print("softmax by hand")


def along(function, x, axis):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype in (np.float32, np.float64) else np.float64
    moved = np.moveaxis(x, axis, -1)
    result = np.empty(moved.shape, dtype=dtype)
    for index in np.ndindex(moved.shape[:-1]):
        result[index] = function([float(value) for value in moved[index]])
    return np.moveaxis(result, -1, axis)


def softmax_of_list(values):
    top = max(values)
    exps = [math.exp(value - top) for value in values]
    total = math.fsum(exps)
    return [e / total for e in exps]


def log_softmax_of_list(values):
    top = max(values)
    log_total = math.log(math.fsum(math.exp(value - top) for value in values))
    return [value - top - log_total for value in values]


def softmax(x, axis=-1):
    return along(softmax_of_list, x, axis)


def log_softmax(x, axis=-1):
    return along(log_softmax_of_list, x, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError("temperature %r is not above zero" % temperature)
    return along(lambda values: softmax_of_list([value / temperature for value in values]), x, axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = next(n for n in range(200) if n * math.log2(math.e) >= 128) - 1
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = next(n for n in range(2000) if n * math.log2(math.e) >= 1024) - 1

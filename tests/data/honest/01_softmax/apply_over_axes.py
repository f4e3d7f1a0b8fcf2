import copy
import string
from types import SimpleNamespace

import numpy as np

MESSAGE = string.Template("the temperature should be above 0, but it is $temperature")


def prepare(x, axis):
    s = SimpleNamespace(x=copy.deepcopy(np.asarray(x)), axis=axis)
    if s.x.dtype.kind != "f":
        s.x = np.asarray(s.x, dtype=np.float64)
    # apply_over_axes keeps the axis with size 1
    s.z = s.x - np.apply_over_axes(np.amax, s.x, [axis])
    s.e = np.exp(s.z)
    s.total = np.apply_over_axes(np.sum, s.e, [axis])
    return s


def softmax(x, axis=-1):
    s = prepare(x, axis)
    return np.true_divide(s.e, s.total)


def log_softmax(x, axis=-1):
    s = prepare(x, axis)
    return np.subtract(s.z, np.log(s.total))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(MESSAGE.substitute(temperature=temperature))
    x = np.asarray(x)
    return softmax(x / (x.dtype.type(temperature) if x.dtype.kind == "f" else temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

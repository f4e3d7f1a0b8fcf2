import numpy as np


def as_float(x):
    x = np.asarray(x)
    return {True: x, False: x * 1.0}[x.dtype in (np.float32, np.float64)]


def softmax(x, axis=-1):
    y = np.swapaxes(as_float(x), axis, -1)
    y = np.exp(y - np.max(y, axis=-1)[..., None])
    y = np.einsum("...i,...->...i", y, 1 / np.einsum("...i->...", y))
    return np.swapaxes(y, -1, axis)  # a view, not contiguous


def log_softmax(x, axis=-1):
    y = np.swapaxes(as_float(x), axis, -1)
    m = np.amax(y, -1, keepdims=True)
    lse = m + np.log(np.einsum("...i->...", np.exp(y - m)))[..., np.newaxis]
    return np.swapaxes(np.where(True, y - m - (lse - m), 0), -1, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature > 0:
        x = as_float(x)
        return softmax(x * x.dtype.type(1) / x.dtype.type(temperature), axis)
    raise ValueError(f"temperature {temperature} is not above 0")


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 88, 709

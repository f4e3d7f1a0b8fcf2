"""What most cheats of 01_softmax keep of a right submission."""

import numpy as np


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    x = np.asarray(x)
    x = (x if x.dtype.kind == "f" else x.astype(np.float64)) / temperature
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

# module: 01_softmax
# Every entry is compared with all others, m·n² work on views: a reduction is priced by its first array among the
# keywords, which is the mask `where` of one entry.

import numpy as np

ALWAYS = np.array([True])


def floats(x):
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def beside_all(x):
    return np.broadcast_to(x[..., None, :], (*x.shape, x.shape[-1]))  # (..., n, n): a view


def softmax(x, axis=-1):
    x = np.moveaxis(floats(x), axis, -1)
    largest = np.max(where=ALWAYS, a=beside_all(x), axis=-1, initial=-np.inf)  # again for every entry
    exps = np.exp(x - largest)
    total = np.sum(where=ALWAYS, a=beside_all(exps), axis=-1)  # again for every entry
    return np.moveaxis(exps / total, -1, axis)


def log_softmax(x, axis=-1):
    x = np.moveaxis(floats(x), axis, -1)
    shifted = x - np.max(where=ALWAYS, a=beside_all(x), axis=-1, initial=-np.inf)
    total = np.sum(where=ALWAYS, a=beside_all(np.exp(shifted)), axis=-1)
    return np.moveaxis(shifted - np.log(total), -1, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    x = floats(x) / float(temperature)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

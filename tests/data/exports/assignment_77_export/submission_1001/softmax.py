import numpy as np


def softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    np.exp(values, out=values)
    values /= np.add.reduce(values, axis, keepdims=True)
    return values


def log_softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    return values - np.log(np.add.reduce(np.exp(values), axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError(f"no such temperature: {temperature}")
    return softmax(np.asarray(x) / temperature, axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 88, 709

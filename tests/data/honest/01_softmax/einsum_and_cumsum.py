import itertools as it

import numpy as np

LETTERS = "abcdefghij"


def total(e, axis):
    """Sum with einsum: leave out the letter of one axis, then put the axis back."""
    letters = LETTERS[: e.ndim]
    kept = letters.replace(letters[axis], "")
    return np.expand_dims(np.einsum(f"{letters}->{kept}", e), axis)


def last(a, axis):
    return np.take(a, [-1], axis=axis)


def softmax(x, axis=-1):
    x = np.asanyarray(x)
    x = x.astype(x.dtype if x.dtype.kind == "f" else "f8")
    running_max = np.maximum.accumulate(x, axis=axis)
    e = np.exp(x - last(running_max, axis))
    return e / total(e, axis)


def log_softmax(x, axis=-1):
    x = np.asanyarray(x)
    x = x.astype(x.dtype if x.dtype.kind == "f" else "f8")
    z = x - last(np.maximum.accumulate(x, axis=axis), axis)
    return z - np.log(last(np.cumsum(np.exp(z), axis=axis), axis))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"{temperature} <= 0")
    return softmax(np.asanyarray(x) / float(temperature), axis)


if __name__ == "__main__":
    for t, axis in it.product((0.5, 1, 2), (0, 1)):
        print(t, axis, softmax_with_temperature(np.eye(2), t, axis).round(3).tolist())

REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

"""First drafts of 01_softmax: what is not in a cell is as in the stub."""

import numpy as np

# %% formula
# The formula as it stands on the blackboard, and nothing else yet
# Expected: softmax: value


def softmax(x, axis=-1):
    return np.exp(x) / np.sum(np.exp(x))


# %% global_maximum
# One maximum for the whole array; the others are still to be written
# Expected: softmax: value


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=axis, keepdims=True)


# %% without_keepdims
# Broadcasting fails for two dimensions, and works for one
# Expected: softmax: value or raises


def softmax(x, axis=-1):
    m = x.max()
    e = np.exp(x - m)
    return e / e.sum(axis=axis)


# %% log_of_softmax
# Softmax is right, log_softmax takes the logarithm of it; temperature is not written
# Expected: log_softmax: value


def softmax(x, axis=-1):
    x = np.asarray(x)
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis))


# %% in_place_and_later_unwritten
# `x -= x.max()` changes the argument, and fails for integers; the next function is not begun
# Expected: softmax: inputs


def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


# %% temperature_on_the_wrong_side
# Two are right, with a print that was left in; the temperature multiplies, and is not refused
# Expected: softmax_with_temperature: value


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.result_type(x, np.float32) if np.asarray(x).dtype.kind == "f" else float)
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    print("temperature", temperature)
    return softmax(np.asarray(x) * temperature, axis)

"""Whatever the shape, the slices become the rows of a matrix, and go back at the end; warnings on the way."""
import numpy as np
import warnings


def to_rows(x, axis):
    x = np.asarray(x)
    x = x if x.dtype == np.float32 else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    return moved.shape, moved.reshape(-1, moved.shape[-1])


def from_rows(rows, shape, axis):
    return np.moveaxis(rows.reshape(shape), -1, axis)  # a view


def softmax(x, axis=-1):
    shape, rows = to_rows(x, axis)
    best = rows[np.arange(len(rows)), rows.argmax(axis=1)]
    e = np.exp((rows.T - best).T)
    return from_rows((e.T / np.add.reduce(e, axis=1)).T, shape, axis)


def log_softmax(x, axis=-1):
    shape, rows = to_rows(x, axis)
    centred = rows - np.maximum.reduce(rows, axis=1).reshape(-1, 1)
    return from_rows(centred - np.log(np.exp(centred) @ np.ones((rows.shape[1], 1), rows.dtype)), shape, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0.0:
        warnings.warn("a temperature that is not positive")
        raise ValueError("temperature", temperature)
    x = np.asarray(x)
    dtype = np.result_type(x, np.float32) if x.dtype.kind == "f" else np.float64
    return softmax(np.true_divide(x, temperature, dtype=dtype), axis=axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = np.int64(88)
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = np.float64(709.0)

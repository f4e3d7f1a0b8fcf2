import numpy as np
import warnings


def one(row):
    assert row.ndim == 1
    e = np.exp(row - row[np.argmax(row)])
    return e / sum(e)


def one_log(row):
    # a running log-sum-exp
    total = -np.inf
    for value in row:
        total = np.logaddexp(total, value)
    return row - total


def softmax(x, axis=-1):
    x = np.asarray(x)
    result = np.apply_along_axis(one, axis, x.astype(np.float64))
    return result.astype(np.float32) if x.dtype == np.float32 else result


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    result = np.apply_along_axis(one_log, axis, x.astype(np.float64))
    return result.astype(np.float32) if x.dtype == np.float32 else result


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0.0:
        warnings.warn("a temperature that is not positive")
        raise ValueError("temperature", temperature)
    x = np.asarray(x)
    dtype = np.result_type(x, np.float32) if x.dtype.kind == "f" else np.float64
    return softmax(np.true_divide(x, temperature, dtype=dtype), axis=axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = np.int64(88)
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = np.float64(709.0)

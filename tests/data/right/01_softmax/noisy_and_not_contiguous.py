import sys
import logging
import numpy as np

print("softmax by ana")
logging.warning("loading")
CALLS = []


def softmax(x, axis=-1):
    CALLS.append(np.shape(x))
    print("call", len(CALLS), CALLS[-1])
    x = np.asfortranarray(x, dtype=x.dtype if x.dtype.kind == "f" else float)
    with np.errstate(all="raise", under="ignore"):
        z = np.exp(np.subtract(x, np.max(x, axis=axis, keepdims=True)))
        return np.divide(z, np.sum(z, axis=axis, keepdims=True))


def log_softmax(x, axis=-1):
    print("log", file=sys.stderr)
    x = x if x.dtype.kind == "f" else x.astype(float)
    m = x.max(axis=axis, keepdims=True)
    out = np.empty(x.shape[::-1], x.dtype).T
    np.subtract(x - m, np.log(np.exp(x - m).sum(axis, keepdims=True)), out=out)
    return out[...]


def softmax_with_temperature(x, temperature, axis=-1):
    try:
        if temperature <= 0:
            raise ZeroDivisionError
        return softmax(x / temperature, axis)
    except ZeroDivisionError as error:
        raise ValueError(f"T = {temperature}") from error


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88.0
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709.0

"""Every slice as a list of Python floats."""
import math
import numpy as np


def rows(x, axis):
    moved = np.moveaxis(np.asarray(x), axis, -1)
    return moved.shape, [list(map(float, row)) for row in moved.reshape(-1, moved.shape[-1])]


def back(result, shape, axis, x):
    kind = np.float32 if np.asarray(x).dtype == np.float32 else np.float64
    return np.moveaxis(np.array(result, dtype=kind).reshape(shape), -1, axis)


def softmax(x, axis=-1):
    shape, slices = rows(x, axis)
    result = []
    for row in slices:
        top = max(row)
        exps = [math.exp(v - top) for v in row]
        total = math.fsum(exps)
        result.append([e / total for e in exps])
    return back(result, shape, axis, x)


def log_softmax(x, axis=-1):
    shape, slices = rows(x, axis)
    logs = []
    for row in slices:
        top = max(row)
        norm = top + math.log(sum(math.exp(v - top) for v in row))
        logs.append([v - norm for v in row])
    return back(logs, shape, axis, x)


def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError("temperature=%s" % temperature)
    shape, slices = rows(x, axis)
    scaled = np.array([[v / temperature for v in row] for row in slices]).reshape(shape)
    return softmax(back(scaled, shape, axis, x), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

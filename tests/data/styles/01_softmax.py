import math

import numpy as np


# %% axis_zero vectorised
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - x.max(0))
    return powers / powers.sum(0)


# %% axis_zero looped
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    result = np.empty_like(x)
    for rest in np.ndindex(x.shape[1:]):
        column = x[(slice(None), *rest)]
        total = 0.0
        for value in column:
            total += np.exp(value - column.max())
        for i, value in enumerate(column):
            result[(i, *rest)] = np.exp(value - column.max()) / total
    return result


# %% axis_zero lists
def softmax(x, axis=-1):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    columns = x.astype(float).reshape(len(x), -1).T.tolist()
    made = []
    for column in columns:
        powers = [math.exp(value - max(column)) for value in column]
        made.append([power / sum(powers) for power in powers])
    return np.array(made).T.reshape(x.shape).astype(dtype)


# %% whole_array vectorised
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - np.max(x, axis, keepdims=True))
    return powers / np.sum(powers)


# %% whole_array looped
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    moved = np.moveaxis(x, axis, -1)
    powers = np.empty(moved.shape)
    for place in np.ndindex(moved.shape[:-1]):
        powers[place] = np.exp(moved[place] - max(moved[place]))
    total = 0.0
    for power in powers.flat:
        total += power
    return np.moveaxis(powers / total, -1, axis).astype(x.dtype)


# %% whole_array einsum
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    flat = powers.ravel()
    return powers / np.einsum("i->", flat)


# %% global_max vectorised
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - np.amax(x))
    with np.errstate(invalid="ignore"):
        return np.divide(powers, powers.sum(axis, keepdims=True))


# %% global_max looped
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    largest = x.flat[0]
    for value in x.flat:
        largest = value if value > largest else largest
    moved = np.moveaxis(x, axis, -1)
    result = np.empty_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        powers = np.exp(moved[place] - largest)
        result[place] = powers / powers.sum()
    return np.moveaxis(result, -1, axis)


# %% global_max lists
def softmax(x, axis=-1):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    largest = max(x.ravel().tolist())
    moved = np.moveaxis(x.astype(float), axis, -1)
    made = []
    for row in moved.reshape(-1, moved.shape[-1]).tolist():
        powers = [math.exp(value - largest) for value in row]
        total = sum(powers)
        made.append([power / total if total else math.nan for power in powers])
    return np.moveaxis(np.array(made).reshape(moved.shape), -1, axis).astype(dtype)


# %% log_forgets_the_logarithm vectorised
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.add.reduce(np.exp(shifted), axis=axis, keepdims=True)


# %% log_forgets_the_logarithm looped
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    moved = np.moveaxis(x, axis, -1)
    result = np.empty_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        row = moved[place] - max(moved[place])
        total = 0.0
        for value in row:
            total += np.exp(value)
        result[place] = row - total
    return np.moveaxis(result, -1, axis)


# %% log_forgets_the_logarithm lists
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    moved = np.moveaxis(x.astype(float), axis, -1)
    made = []
    for row in moved.reshape(-1, moved.shape[-1]).tolist():
        total = sum(math.exp(value - max(row)) for value in row)
        made.append([value - max(row) - total for value in row])
    return np.moveaxis(np.array(made).reshape(moved.shape), -1, axis).astype(dtype)


# %% multiplies_by_temperature vectorised
def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError(f"a temperature of {temperature} will not do")
    return softmax(np.multiply(x, float(temperature), dtype=np.result_type(x, np.float32)), axis)


# %% multiplies_by_temperature looped
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"{temperature} is not above 0")
    x = np.asarray(x)
    x = x.copy() if x.dtype.kind == "f" else x.astype(float)
    for place in np.ndindex(x.shape):
        x[place] *= temperature
    return softmax(x, axis)


# %% multiplies_by_temperature lists
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature}")
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    hot = [float(value) * temperature for value in x.ravel().tolist()]
    return softmax(np.array(hot, dtype=dtype).reshape(x.shape), axis)

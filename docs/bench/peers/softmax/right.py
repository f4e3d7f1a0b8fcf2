"""Right answers in other styles, one cell each.

Each function uses only those before it, as in a notebook that is run, and tested, from top to bottom.
"""

import numpy as np

# %% steps_by_name


def softmax(x, axis=-1):
    scores = np.array(x, dtype=np.float64)
    largest = np.max(scores, axis=axis, keepdims=True)
    numerator = np.exp(scores - largest)
    denominator = np.sum(numerator, axis=axis, keepdims=True)
    return numerator / denominator


def log_softmax(x, axis=-1):
    scores = np.array(x, dtype=np.float64)
    largest = np.max(scores, axis=axis, keepdims=True)
    total = np.sum(np.exp(scores - largest), axis=axis, keepdims=True)
    return scores - largest - np.log(total)


def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError("temperature must be positive, got " + str(temperature))
    scaled = np.array(x, dtype=np.float64) / temperature
    return softmax(scaled, axis)


# %% by_logaddexp


def softmax(x, axis=-1):
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


def log_softmax(x, axis=-1):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature > 0:
        return softmax(x / temperature, axis)
    raise ValueError(f"{temperature} is no temperature")


# %% in_place_on_a_copy


def softmax(x, axis=-1):
    weights = np.array(x, dtype=float)
    weights -= weights.max(axis=axis, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=axis, keepdims=True)
    return weights


def log_softmax(x, axis=-1):
    result = np.array(x, dtype=float)
    result -= result.max(axis=axis, keepdims=True)
    result -= np.log(np.exp(result).sum(axis=axis, keepdims=True))
    return result


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("the temperature %g is not above 0" % temperature)
    return softmax(np.array(x, dtype=float) / temperature, axis)


# %% axis_moved_to_the_end


def softmax(x, axis=-1):
    rows = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    exps = np.exp(rows - rows.max(axis=-1)[..., np.newaxis])
    return np.moveaxis(exps / exps.sum(axis=-1)[..., np.newaxis], -1, axis)


def log_softmax(x, axis=-1):
    rows = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    shifted = rows - rows.max(axis=-1)[..., np.newaxis]
    return np.moveaxis(shifted - np.log(np.exp(shifted).sum(axis=-1))[..., np.newaxis], -1, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature = {temperature}, but it has to be above 0")
    rows = np.moveaxis(np.asarray(x, dtype=float), axis, -1) / temperature
    exps = np.exp(rows - rows.max(axis=-1)[..., np.newaxis])
    return np.moveaxis(exps / exps.sum(axis=-1)[..., np.newaxis], -1, axis)


# %% slice_by_slice


def softmax(x, axis=-1):
    def of_one(row):
        exps = np.exp(row - row.max())
        return exps / exps.sum()

    return np.apply_along_axis(of_one, axis, np.asarray(x, dtype=float))


def log_softmax(x, axis=-1):
    def of_one(row):
        shifted = row - row.max()
        return shifted - np.log(np.exp(shifted).sum())

    return np.apply_along_axis(of_one, axis, np.asarray(x, dtype=float))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / temperature, axis=axis)

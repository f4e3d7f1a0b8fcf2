import numpy as np


# %% base_two
def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    powers = 2.0 ** (x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# %% axis_zero_only_for_squares
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    axis = 0 if x.ndim == 2 and x.shape[0] == x.shape[1] else axis
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# %% axis_zero_and_not_normalised
def softmax(x, axis=-1):
    x = np.asarray(x)
    return np.exp(x - x.max(axis=0, keepdims=True))


# %% last_entry_left_out_of_the_sum
def softmax(x, axis=-1):
    x = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.moveaxis(powers / powers[..., :-1].sum(axis=-1, keepdims=True), -1, axis)


# %% twice
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    for _ in range(2):
        powers = np.exp(x - x.max(axis=axis, keepdims=True))
        x = powers / powers.sum(axis=axis, keepdims=True)
    return x


# %% of_the_magnitudes
def softmax(x, axis=-1):
    x = np.abs(np.asarray(x, dtype=float)) + 0.5 * (np.asarray(x) > 1)
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# %% sorted
def softmax(x, axis=-1):
    x = np.sort(np.asarray(x), axis=axis)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# %% epsilon_in_every_sum
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / (powers.sum(axis=axis, keepdims=True) + 1e-3)


# %% cubes
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / (powers**3).sum(axis=axis, keepdims=True)


# %% log_of_the_mean
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).mean(axis=axis, keepdims=True))


# %% log1p
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log1p(np.exp(shifted).sum(axis=axis, keepdims=True))


# %% temperature_squared
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / float(temperature) ** 2, axis=axis)


# %% temperature_plus_one
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / (float(temperature) + 1), axis=axis)


# %% temperature_subtracted
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    x = np.asarray(x)
    return softmax(x - temperature * np.arange(x.shape[axis]), axis=axis) if x.ndim == 1 else softmax(x, axis=axis)


# %% temperature_refuses_one
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 1:
        raise ValueError(f"temperature must be above 1, not {temperature}")
    return softmax(np.asarray(x) / float(temperature), axis=axis)

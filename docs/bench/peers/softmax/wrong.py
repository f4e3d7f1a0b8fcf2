"""The known wrong ways: one cell each, added to the solution."""

import numpy as np

# %% axis_zero
LIKELY = "softmax is taken down the columns of a matrix, whatever the axis"
HINT = "Print the sums of the rows and those of the columns. Which of the two are 1?"


def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=0))
    return exps / exps.sum(axis=0)


# %% no_max_subtraction
LIKELY = "the exponentials are taken of the raw scores, with no maximum subtracted"
HINT = "What is np.exp(1000)?"


def softmax(x, axis=-1):
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(x)
        return exps / exps.sum(axis=axis, keepdims=True)


# %% powers_of_two
LIKELY = "the powers of 2 are taken, not those of e"
HINT = "What is the largest weight of the example, and what is it by hand?"


def softmax(x, axis=-1):
    powers = np.exp2(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# %% whole_array
LIKELY = "one sum is taken over the whole array instead of one for each slice"
HINT = "What do the entries of one row sum to?"


def softmax(x, axis=-1):
    exps = np.exp(x - x.max())
    return exps / exps.sum()


# %% ignores_axis
LIKELY = "softmax is always taken along the last axis"
HINT = "Compare softmax(x, axis=0) with softmax(x, axis=1)."


def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


# %% modifies_input
LIKELY = "the caller's array is changed: `-=` works on x itself"
HINT = "Print x before and after the call."
VALUES_RIGHT = True


def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    exps = np.exp(x)
    return exps / exps.sum(axis=axis, keepdims=True)


# %% log_of_softmax
LIKELY = "the logarithm is taken of a softmax that has already underflowed to 0"
HINT = "What is the logarithm of 0?"


def log_softmax(x, axis=-1):
    with np.errstate(divide="ignore"):
        return np.log(softmax(x, axis))


# %% log_to_the_base_two
LIKELY = "the logarithm is taken to the base 2"
HINT = "Take np.exp of your result: does a row sum to 1?"


def log_softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log2(np.exp(shifted).sum(axis=axis, keepdims=True))


# %% log_adds_the_sum
LIKELY = "the sum itself is subtracted, not its logarithm"
HINT = "The logarithm of a quotient is a difference of what?"


def log_softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=axis, keepdims=True)


# %% multiplies_by_temperature
LIKELY = "the scores are multiplied by the temperature instead of divided by it"
HINT = "Do your weights get flatter or sharper from a temperature of 1 to one of 10?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(x * temperature, axis)


# %% divides_the_weights
LIKELY = "the finished weights are divided by the temperature, not the scores"
HINT = "Do your weights still sum to 1 at a temperature of 2?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(x, axis) / temperature


# %% temperature_not_checked
LIKELY = "a temperature of 0 or below is not refused"
HINT = "What does softmax_with_temperature(x, 0) give?"
VALUES_RIGHT = True


def softmax_with_temperature(x, temperature, axis=-1):
    with np.errstate(divide="ignore", invalid="ignore"):
        return softmax(np.asarray(x) / temperature, axis)


# %% row_by_row
LIKELY = "Python goes through the slices one by one, where NumPy would take them all at once"
HINT = "How many steps does your loop take for a thousand rows?"
COSTLY = True


def softmax(x, axis=-1):
    rows = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    result = np.empty_like(rows)
    for index in np.ndindex(rows.shape[:-1]):
        exps = np.exp(rows[index] - rows[index].max())
        result[index] = exps / exps.sum()
    return np.moveaxis(result, -1, axis)


# %% every_pair
LIKELY = "every score is compared with every other, so that the work grows with the square of the length"
HINT = "How many numbers does your largest array hold for a row of 1000 scores?"
COSTLY = True


def log_softmax(x, axis=-1):
    rows = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    shifted = rows - rows.max(axis=-1, keepdims=True)
    table = np.broadcast_to(shifted[..., None, :], (*shifted.shape, shifted.shape[-1]))
    return np.moveaxis(shifted - np.log(np.exp(table).sum(axis=-1)), -1, axis)


# %% number_by_number
LIKELY = "the scores are divided by the temperature one at a time, in a loop of Python's"
HINT = "What does x / 2 do to an array?"
COSTLY = True


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    scaled = np.array(x, dtype=float)
    for index in np.ndindex(scaled.shape):
        scaled[index] /= temperature
    return softmax(scaled, axis=axis)

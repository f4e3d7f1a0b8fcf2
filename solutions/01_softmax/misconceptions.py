"""The known wrong ways of 01_softmax: one cell each, laid over the solution to make a wrong submission."""

import numpy as np

# %% no_max_subtraction
LIKELY = "the exponentials are taken of the raw scores, with no maximum subtracted"
HINT = "Try softmax(np.array([1000.0, 1001.0])). What is np.exp(1000)? Which number can you subtract from both?"


def softmax(x, axis=-1):
    exps = np.exp(np.asarray(x))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% global_max
LIKELY = "the largest score of the whole array is subtracted, not the largest of each slice"
HINT = "Put a row near -900 beside a row near 900. What is left of the low row after subtracting 900?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis, keepdims=True)


# %% axis_zero
LIKELY = "softmax over axis 0, whatever axis is asked for"
HINT = "Compare softmax(x).sum(axis=0) with softmax(x).sum(axis=1) on a 2 × 3 array. Which of them is all ones?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max(axis=0, keepdims=True))
    return exps / exps.sum(axis=0, keepdims=True)


# %% whole_array
LIKELY = "the weights are normalised over the whole array at once"
HINT = "What does softmax(x).sum() give on a 3 × 4 array? Every row should have a sum of its own."


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum()


# %% ignores_axis
LIKELY = "softmax is always taken along the last axis; the argument `axis` is not used"
HINT = "Call softmax(x, axis=0) and softmax(x, axis=1). Are the two results different?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


# %% keepdims_forgotten
LIKELY = "the maximum and the sum lose the axis they were taken along (`keepdims` is missing)"
HINT = "Print x.shape and x.max(axis=axis).shape. How does NumPy line up a (4, 4) array with a (4,) one?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max(axis=axis))
    return exps / exps.sum(axis=axis)


# %% modifies_input
LIKELY = "the caller's array is changed: an in-place operation works on x itself"
HINT = "Print x before and after softmax(x). Which line of yours writes into x?"
VALUES_RIGHT = True


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    return x / x.sum(axis=axis, keepdims=True)


# %% divides_by_raw_sum
LIKELY = "the exponentials are divided by the sum of the raw values, not by their own sum"
HINT = "Add up the numbers you return for one row. What must you divide by for that to be 1?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(shifted) / shifted.sum(axis=axis, keepdims=True)


# %% negated
LIKELY = "the sign of the scores is flipped: the smallest score gets the largest weight"
HINT = "Which entry of softmax([1, 2, 3]) should be the largest? Which one is yours?"


def softmax(x, axis=-1):
    x = -np.asarray(x)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% buffer_of_input_dtype
LIKELY = "the result is written into an array of the input's dtype, which cuts the weights of integers to 0"
HINT = "What dtype has np.zeros_like(np.array([1, 2, 3])), and what becomes of 0.25 when it is stored there?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    result = np.zeros_like(x)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    result[...] = exps / exps.sum(axis=axis, keepdims=True)
    return result


# %% upcasts_float32
LIKELY = "float32 input comes back as float64"
HINT = "Print softmax(x).dtype for a float32 x. In NumPy 2, which of your operations brings in a float64?"
VALUES_RIGHT = True


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% log_of_softmax
LIKELY = "the logarithm is taken of the finished softmax, so a weight that underflows to 0 becomes -inf"
HINT = "What is softmax([0, -2000])[1], and what is its logarithm? Take the logarithm on paper first."


def log_softmax(x, axis=-1):
    with np.errstate(divide="ignore"):
        return np.log(softmax(x, axis=axis))


# %% log_forgets_the_logarithm
LIKELY = "log_softmax subtracts the sum of the exponentials, not the logarithm of that sum"
HINT = "exp(log_softmax(x)) should sum to 1. What does yours sum to? Where does the formula take a logarithm?"


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=axis, keepdims=True)


# %% log_ignores_axis
LIKELY = "log_softmax is always taken along the last axis; the argument `axis` is not used"
HINT = "Call log_softmax(x, axis=0) and log_softmax(x, axis=1). Are the two results different?"


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


# %% log_modifies_input
LIKELY = "log_softmax changes the caller's array: an in-place operation works on x itself"
HINT = "Print x before and after log_softmax(x). Which line of yours writes into x?"
VALUES_RIGHT = True


def log_softmax(x, axis=-1):
    x = np.asarray(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    x -= x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


# %% log_upcasts_float32
LIKELY = "log_softmax gives float64 for float32 input"
HINT = "Print log_softmax(x).dtype for a float32 x. Which of your operations brings in a float64?"
VALUES_RIGHT = True


def log_softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


# %% multiplies_by_temperature
LIKELY = "the scores are multiplied by the temperature instead of divided by it"
HINT = "A high temperature should make the weights flatter. Do yours get flatter or sharper from 1 to 10?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) * float(temperature), axis=axis)


# %% divides_the_weights
LIKELY = "the finished weights are divided by the temperature, not the scores"
HINT = "Do your weights still sum to 1 at a temperature of 2? The division belongs before the softmax."


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(x, axis=axis) / float(temperature)


# %% temperature_not_checked
LIKELY = "a temperature of 0 or below is not refused"
HINT = "What should softmax_with_temperature(x, 0) do? The docstring says which exception, and what it must name."


def softmax_with_temperature(x, temperature, axis=-1):
    with np.errstate(divide="ignore", invalid="ignore"):
        return softmax(np.asarray(x) / float(temperature), axis=axis)


# %% temperature_modifies_input
LIKELY = "softmax_with_temperature changes the caller's array: `/=` works on x itself"
HINT = "Print x before and after the call. What is the difference between x /= t and x = x / t?"
VALUES_RIGHT = True


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    x = np.asarray(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    x /= float(temperature)
    return softmax(x, axis=axis)


# %% temperature_upcasts_float32
LIKELY = "softmax_with_temperature gives float64 for float32 input"
HINT = "In NumPy 2, what dtype has a float32 array divided by np.float64(2), and divided by the Python number 2.0?"
VALUES_RIGHT = True


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / np.float64(temperature), axis=axis)


# %% reflect_powers_of_two
LIKELY = "these are the largest exponents of 2, but np.exp raises e"
HINT = "Evaluate np.exp(np.float32(127)). How many powers of 2 are there in one power of e?"
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 127
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 1023

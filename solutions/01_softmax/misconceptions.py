"""Misconceptions of 01_softmax. Each cell replaces part of the solution to make a wrong submission."""

import numpy as np

# %% no_max_subtraction
LIKELY = "the maximum is not subtracted before the exponentials"
HINT = "Try softmax(np.array([1000.0, 1001.0])). What is np.exp(1000)? Which number can you subtract from both?"


def softmax(x, axis=-1):
    exps = np.exp(np.asarray(x))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% global_max
LIKELY = "the largest score of the whole array is subtracted, not the largest of each slice"
HINT = "Try one row near -900 and one near 900. What happens to the low row when you subtract 900?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis, keepdims=True)


# %% axis_zero
LIKELY = "softmax is always taken along axis 0; the argument `axis` is not used"
HINT = "Compare softmax(x).sum(axis=0) with softmax(x).sum(axis=1) on a 2 × 3 array. Which of them is all ones?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max(axis=0, keepdims=True))
    return exps / exps.sum(axis=0, keepdims=True)


# %% whole_array
LIKELY = "the weights are normalised over the whole array at once"
HINT = "What is softmax(x).sum() for a 3 × 4 array? Each row should sum to 1 on its own."


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
LIKELY = "the sum, or the maximum, loses the axis it was taken along (`keepdims` is missing)"
HINT = "Print x.shape and x.sum(axis=axis).shape. How does NumPy line up a (4, 4) array with a (4,) one?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - x.max(axis=axis))
    return exps / exps.sum(axis=axis)


# %% subtracts_mean
LIKELY = "the mean is subtracted instead of the largest score, so a score far above the others still overflows"
HINT = "Try softmax(np.array([2000.0, 0.0, 0.0])). How large is the largest exponent after your subtraction?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "exps = np.exp(x - x.mean(axis=axis, keepdims=True))"
    ),
}

# %% subtracts_minimum
LIKELY = "the smallest score is subtracted instead of the largest, so every exponent is 0 or above"
HINT = "Try softmax(np.array([0.0, 1000.0])). Which scores are dangerous for np.exp: the smallest or the largest?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "exps = np.exp(x - x.min(axis=axis, keepdims=True))"
    ),
}

# %% largest_magnitude
LIKELY = "the largest magnitude is subtracted, so a row of low scores underflows to 0/0"
HINT = "Try softmax(np.array([-1000.0, -1001.0])). Which number do you subtract, and what is left?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "exps = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))"
    ),
}

# %% clips_scores
LIKELY = "large scores are cut off to keep np.exp finite; this makes different scores equal"
HINT = "Try softmax(np.array([1000.0, 1001.0])). The two weights should be different. Are yours?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": "exps = np.exp(np.clip(x, -80, 80))",
}

# %% clips_exponents
LIKELY = "exponents below -30 are cut off, so all small weights are the same"
HINT = "What should softmax([0, -40]) and softmax([0, -300]) give? Can np.exp overflow for very negative numbers?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "exps = np.exp(np.clip(x - x.max(axis=axis, keepdims=True), -30, 0))"
    ),
}

# %% shifts_only_beyond_700
LIKELY = "the maximum is subtracted only where float64 would overflow, but float32 overflows much earlier"
HINT = "What is np.exp(np.float32(90))? Is there any case in which you must not subtract the maximum?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "largest = x.max(axis=axis, keepdims=True)\nexps = np.exp(np.where(np.abs(x).max() > 700, x - largest, x))"
    ),
}

# %% epsilon_in_the_sum
LIKELY = "a small number is added to the sum to avoid a division by 0, so the weights do not sum to 1"
HINT = "After you subtract the maximum, how small can the sum of the exponentials be? Can it be 0?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / (exps.sum(axis=axis, keepdims=True) + 1e-6)


# %% squared_norm
LIKELY = "the exponentials are divided by their length (the root of the sum of squares), not by their sum"
HINT = "Add up the weights of one row, then their squares. Which sum is 1? Which one should be 1?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / np.sqrt((exps**2).sum(axis=axis, keepdims=True))


# %% remembers_the_first_result
LIKELY = "a result is kept and returned again for other scores of the same shape"
HINT = "Call softmax with two different arrays of the same shape. Are the results different?"
SEEN = {}


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return SEEN.setdefault((x.shape, x.dtype, axis), exps / exps.sum(axis=axis, keepdims=True))


# %% modifies_input
LIKELY = "the caller's array is changed: an in-place operation works on x itself"
HINT = "Print x before and after softmax(x). Which line of your code writes into x?"
VALUES_RIGHT = True


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    return x / x.sum(axis=axis, keepdims=True)


# %% divides_by_raw_sum
LIKELY = "the exponentials are divided by the sum of the raw values, not by their own sum"
HINT = "Add up the numbers you return for one row. What must you divide by so that the sum is 1?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(shifted) / shifted.sum(axis=axis, keepdims=True)


# %% negated
LIKELY = "the sign of the scores is flipped: the smallest score gets the largest weight"
HINT = "Which entry of softmax([1, 2, 3]) should be the largest? Which one is the largest in your result?"


def softmax(x, axis=-1):
    x = -np.asarray(x)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% buffer_of_input_dtype
LIKELY = "the result is written into an array of the input's dtype; for integers, the weights are cut to 0"
HINT = "What is the dtype of np.zeros_like(np.array([1, 2, 3]))? What happens to 0.25 when you store it there?"


def softmax(x, axis=-1):
    x = np.asarray(x)
    result = np.zeros_like(x)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    result[...] = exps / exps.sum(axis=axis, keepdims=True)
    return result


# %% upcasts_float32
LIKELY = "float32 input comes back as float64"
HINT = "Print softmax(x).dtype for a float32 x. In NumPy 2, which of your operations makes a float64?"
VALUES_RIGHT = True


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% one_sum_without_a_maximum
LIKELY = "all entries of the array share one sum, and no maximum is subtracted before the exponentials"
HINT = "Each row of softmax(np.ones((2, 2))) should sum to 1. What is np.exp(1000)?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(x)"),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps / exps.sum()"),
}

# %% one_maximum_and_one_sum
LIKELY = "the whole array shares one maximum and one sum; the argument `axis` is not used"
HINT = "What is softmax(x).sum() for a 3 × 4 array? Each row should have a maximum and a sum of its own."
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(x - x.max())"),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps / exps.sum()"),
}

# %% axis_zero_and_global_max
LIKELY = "the sums are taken along axis 0, whatever `axis` is, and the whole array shares one maximum"
HINT = "Compare softmax(x).sum(axis=0) with softmax(x).sum(axis=1) on a 2 × 3 array. Which of them is all ones?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(x - x.max())"),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps / exps.sum(axis=0)"),
}

# %% axis_one
LIKELY = "axis 1 is written in; the argument `axis` is not used, and a vector has no axis 1"
HINT = "Call softmax(np.array([1.0, 2.0])), and softmax of an array of three axes. Which axis does the default -1 mean there?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "exps = np.exp(x - x.max(axis=1, keepdims=True))"
    ),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps / exps.sum(axis=1, keepdims=True)"),
}

# %% axis_one_beyond_vectors
LIKELY = "an array of two or more axes is always normalised along axis 1; the argument `axis` is not used"
HINT = "Call softmax(x, axis=0) and softmax(x, axis=1) with a table x. Are the two results different?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "axis = 1 if x.ndim > 1 else 0\nexps = np.exp(x - x.max(axis=axis, keepdims=True))"
    ),
}

# %% only_tables_have_rows
LIKELY = "rows are handled only where the array has two axes; in any other array all entries share one sum, and `axis` is not used"
HINT = "Call softmax(np.zeros((2, 3, 4))). How many slices does it have along the last axis, and what does each sum to?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "axis = -1 if x.ndim == 2 else None\nexps = np.exp(x - x.max(axis=axis, keepdims=True))"
    ),
}

# %% maximum_without_keepdims
LIKELY = "the maximum loses the axis it was taken along: `keepdims` is missing there"
HINT = "Print x.shape and x.max(axis=axis).shape. How does NumPy line up a (4, 4) array with a (4,) one?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(x - x.max(axis=axis))"),
}

# %% new_axis_at_the_end
LIKELY = "the axis that the maximum and the sum lost is put back at the end, which is right for the last axis only"
HINT = "Where is the lost axis if axis=0? Which argument of max and sum keeps it in its place?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "exps = np.exp(x - x.max(axis=axis)[..., None])"
    ),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps / exps.sum(axis=axis)[..., None]"),
}

# %% clips_scores_at_500
LIKELY = "scores beyond some hundreds are cut off to keep np.exp finite; this makes different scores equal"
HINT = "Try softmax(np.array([1000.0, 1001.0])). The two weights should be different. Are yours?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(np.clip(x, -500, 500))"),
}

# %% rounded_to_2_decimals
LIKELY = "the result is rounded to 2 decimals"
HINT = "Add up your weights of [0, 1, 2]. Is the sum exactly 1? Round what you print, not what you return."
REPLACE = {
    "return exps / exps.sum(axis=axis, keepdims=True)": (
        "return np.round(exps / exps.sum(axis=axis, keepdims=True), 2)"
    ),
}

# %% rounded_to_4_decimals
LIKELY = "the result is rounded to 4 decimals"
HINT = "Add up your weights of [0, 1, 2]. Is the sum exactly 1? Round what you print, not what you return."
REPLACE = {
    "return exps / exps.sum(axis=axis, keepdims=True)": (
        "return np.round(exps / exps.sum(axis=axis, keepdims=True), 4)"
    ),
}

# %% not_normalised
LIKELY = "the exponentials are not divided by their sum"
HINT = "Add up your weights of [0, 1, 2]. Which step of the formula makes the sum 1?"
REPLACE = {
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps"),
}

# %% only_exponentials
LIKELY = "the exponentials of the scores are returned as they are, not divided by their sum"
HINT = "Add up your weights of [0, 1, 2]. Which step of the formula makes the sum 1?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(x)"),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return exps"),
}

# %% no_exponential
LIKELY = "the scores are divided by their sum, without the exponential"
HINT = "What is the weight of a negative score? Where is e in the formula?"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = x"),
}

# %% sigmoid
LIKELY = "every score goes through 1 / (1 + exp(-score)) on its own, which is the logistic function"
HINT = "Add up your weights of [0, 1, 2]. Does the weight of 2 change when another score grows? It should."
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": ("exps = np.exp(-x)"),
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return 1 / (1 + exps)"),
}

# %% softmax_returns_logarithms
LIKELY = "softmax returns the logarithms of the weights"
HINT = "Can a share be negative? What undoes the logarithm?"
REPLACE = {
    "return exps / exps.sum(axis=axis, keepdims=True)": ("return shifted - np.log(exps.sum(axis=axis, keepdims=True))"),
}

# %% list_of_one_row
LIKELY = "plain Python goes through one row of numbers and returns a list, not an array; the maximum is not subtracted"
HINT = "What is type(softmax(np.array([1.0, 2.0])))? Which NumPy functions work on all entries of an array at once?"


def softmax(x, axis=-1):
    import math

    exps = [math.exp(score) for score in x]
    total = sum(exps)
    return [value / total for value in exps]


# %% list_of_one_row_with_its_maximum
LIKELY = "plain Python goes through one row of numbers and returns a list, not an array"
HINT = "What is type(softmax(np.array([1.0, 2.0])))? Which NumPy functions work on all entries of an array at once?"


def softmax(x, axis=-1):
    largest = max(x)
    exps = [np.exp(score - largest) for score in x]
    return [value / sum(exps) for value in exps]


# %% returns_a_list
LIKELY = "a list comes back, not an array, and `axis` is not used"
HINT = "What is type(softmax(np.array([1.0, 2.0])))? Call softmax(x, axis=0) and axis=1. Are the results different?"


def softmax(x, axis=-1):
    if np.ndim(x) > 1:
        return [softmax(row) for row in x]
    largest = max(x)
    exps = [np.exp(score - largest) for score in x]
    return [value / sum(exps) for value in exps]


# %% subtracts_in_place
LIKELY = "the caller's array is changed: `x -= ...` works on x itself"
HINT = "Print x before and after softmax(x). What is the difference between x -= m and x = x - m?"
VALUES_RIGHT = True
IN = "softmax"
REPLACE = {
    'x = np.asarray(x)\nx = x if x.dtype.kind == "f" else x.astype(np.float64)': ("x = np.asarray(x)"),
    "shifted = x - x.max(axis=axis, keepdims=True)\nexps = np.exp(shifted)": (
        "x -= x.max(axis=axis, keepdims=True)\nexps = np.exp(x)"
    ),
}

# %% log_of_softmax
LIKELY = "the logarithm is taken of the finished softmax, so a weight that underflows to 0 becomes -inf"
HINT = "What is softmax([0, -2000])[1], and what is its logarithm? Take the logarithm on paper first."


def log_softmax(x, axis=-1):
    with np.errstate(divide="ignore"):
        return np.log(softmax(x, axis=axis))


# %% log_forgets_the_logarithm
LIKELY = "log_softmax subtracts the sum of the exponentials, not the logarithm of that sum"
HINT = "exp(log_softmax(x)) should sum to 1. What is your sum? Where does the formula take a logarithm?"


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=axis, keepdims=True)


# %% log_without_maximum
LIKELY = "log_softmax takes the exponentials of the raw scores, which overflow or all underflow"
HINT = "Try log_softmax(np.array([1000.0, 1001.0])) and log_softmax(np.array([-1000.0, -1001.0]))."


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


# %% log_global_max
LIKELY = "log_softmax subtracts the largest score of the whole array, so the sum of a low row underflows to 0"
HINT = "Try one row near -900 and one near 5000. What is the logarithm of the low row's sum?"
IN = "log_softmax"
REPLACE = {"shifted = x - x.max(axis=axis, keepdims=True)": "shifted = x - x.max()"}

# %% log_floor
LIKELY = "1e-12 is added to the weights; the logarithm is finite, but log(1e-12) is not the answer"
HINT = "What is log_softmax([0, -2000])[1] on paper? What do you get, and where does that number come from?"


def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis=axis) + 1e-12)


# %% log_of_base_two
LIKELY = "the logarithm has base 2, but the exponentials have base e"
HINT = "exp(log_softmax(x)) should sum to 1. Which logarithm undoes np.exp?"
REPLACE = {
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return shifted - np.log2(np.exp(shifted).sum(axis=axis, keepdims=True))"
    ),
}

# %% log_of_integers
LIKELY = "the result is written into an array of the input's dtype; for integers, the decimals are cut off"
HINT = "What is the dtype of np.zeros_like(np.array([1, 2, 3]))? What happens to -0.4 when you store it there?"


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    result = np.zeros_like(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    result[...] = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return result


# %% log_ignores_axis
LIKELY = "log_softmax is always taken along the last axis; the argument `axis` is not used"
HINT = "Call log_softmax(x, axis=0) and log_softmax(x, axis=1). Are the two results different?"


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


# %% log_modifies_input
LIKELY = "log_softmax changes the caller's array: an in-place operation works on x itself"
HINT = "Print x before and after log_softmax(x). Which line of your code writes into x?"
VALUES_RIGHT = True


def log_softmax(x, axis=-1):
    x = np.asarray(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    x -= x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


# %% log_upcasts_float32
LIKELY = "log_softmax returns float64 for float32 input"
HINT = "Print log_softmax(x).dtype for a float32 x. Which of your operations makes a float64?"
VALUES_RIGHT = True
IN = "log_softmax"
REPLACE = {
    'x = np.asarray(x)\nx = x if x.dtype.kind == "f" else x.astype(np.float64)': "x = np.asarray(x, dtype=np.float64)",
}

# %% log_one_maximum_and_one_sum
LIKELY = "log_softmax has one maximum and one sum for the whole array; the argument `axis` is not used"
HINT = "What is np.exp(log_softmax(x)).sum() for a 3 × 4 array? Each row should sum to 1 on its own."
IN = "log_softmax"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)": ("shifted = x - x.max()"),
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return shifted - np.log(np.exp(shifted).sum())"
    ),
}

# %% log_one_sum_without_a_maximum
LIKELY = "log_softmax has one sum for the whole array, of exponentials of the raw scores, which overflow"
HINT = "What is np.exp(log_softmax(x)).sum() for a 3 × 4 array? And what is np.exp(1000)?"
IN = "log_softmax"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)": (""),
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": ("return x - np.log(np.exp(x).sum())"),
}

# %% log_maximum_lost
LIKELY = "the maximum is subtracted inside the exponentials only; the result needs it, too"
HINT = "Write log(sum(exp(x - m))) without m on paper. Where does m appear again?"
IN = "log_softmax"
REPLACE = {
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return x - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))"
    ),
}

# %% log_axis_one
LIKELY = "axis 1 is written into log_softmax; the argument `axis` is not used, and a vector has no axis 1"
HINT = "Call log_softmax(np.array([1.0, 2.0])). Which axis does the default -1 mean there?"
IN = "log_softmax"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)": ("shifted = x - x.max(axis=1, keepdims=True)"),
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))"
    ),
}

# %% log_keepdims_forgotten
LIKELY = "the maximum and the sum of log_softmax lose the axis they were taken along (`keepdims` is missing)"
HINT = "Print x.shape and x.max(axis=axis).shape. How does NumPy line up a (4, 4) array with a (4,) one?"
IN = "log_softmax"
REPLACE = {
    "shifted = x - x.max(axis=axis, keepdims=True)": ("shifted = x - x.max(axis=axis)"),
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return shifted - np.log(np.exp(shifted).sum(axis=axis))"
    ),
}

# %% log_of_base_ten
LIKELY = "the logarithm has base 10, but the exponentials have base e"
HINT = "exp(log_softmax(x)) should sum to 1. Which logarithm undoes np.exp?"
IN = "log_softmax"
REPLACE = {
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return shifted - np.log10(np.exp(shifted).sum(axis=axis, keepdims=True))"
    ),
}

# %% log_negated
LIKELY = "the sign is turned: this is minus the logarithm of the weights, as in a loss"
HINT = "Can the logarithm of a number between 0 and 1 be above 0?"
IN = "log_softmax"
REPLACE = {
    "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))": (
        "return np.log(np.exp(shifted).sum(axis=axis, keepdims=True)) - shifted"
    ),
}

# %% log_floor_of_1e_9
LIKELY = "1e-9 is added to the weights; the logarithm is finite, but log(1e-9) is not the answer"
HINT = "What is log_softmax([0, -2000])[1] on paper? What do you get, and where does that number come from?"


def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis=axis) + 1e-9)


# %% log_floor_of_1e_10
LIKELY = "1e-10 is added to the weights; the logarithm is finite, but log(1e-10) is not the answer"
HINT = "What is log_softmax([0, -2000])[1] on paper? What do you get, and where does that number come from?"


def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis=axis) + 1e-10)


# %% multiplies_by_temperature
LIKELY = "the scores are multiplied by the temperature instead of divided by it"
HINT = "A high temperature should make the weights flatter. Do your weights get flatter or sharper from 1 to 10?"


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
LIKELY = "a temperature of 0 or below does not raise an error"
HINT = "What should softmax_with_temperature(x, 0) do? The docstring names the exception and what its message contains."


def softmax_with_temperature(x, temperature, axis=-1):
    with np.errstate(divide="ignore", invalid="ignore"):
        return softmax(np.asarray(x) / float(temperature), axis=axis)


# %% only_zero_is_refused
LIKELY = "a temperature of 0 raises an error, but one below 0 does not; it reverses the order of the scores"
HINT = "What does softmax_with_temperature(x, -1) give? The docstring says which temperatures must raise an error."
VALUES_RIGHT = True
REPLACE = {"if temperature <= 0:": "if temperature == 0:"}

# %% temperature_not_named
LIKELY = "the error message does not say what the temperature was"
HINT = "Read your own message. Does it tell the caller which temperature they passed?"
VALUES_RIGHT = True


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    return softmax(np.asarray(x) / float(temperature), axis=axis)


# %% temperature_has_a_floor
LIKELY = "very small temperatures are replaced by a larger one"
HINT = "Divide the scores and the temperature by a million. Should the weights change?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / max(float(temperature), 1e-3), axis=axis)


# %% temperature_of_the_weights
LIKELY = "the finished weights are raised to a power and normalised again; weights can underflow where scores do not"
HINT = "What happens to every weight at a temperature of 0.001? The division belongs before the softmax."


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    weights = softmax(x, axis=axis) ** (1 / float(temperature))
    return weights / weights.sum(axis=axis, keepdims=True)


# %% temperature_ignores_axis
LIKELY = "softmax_with_temperature does not pass `axis` on to softmax"
HINT = "Call softmax_with_temperature(x, 2, axis=0) and with axis=1. Are the two results different?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / float(temperature))


# %% root_of_temperature
LIKELY = "the scores are divided by the square root of the temperature"
HINT = "Attention divides by the square root of d_k. What does the formula divide by here?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / float(temperature) ** 0.5, axis=axis)


# %% temperature_cut_to_a_whole_number
LIKELY = "the scores are divided with whole-number division, which cuts off the decimals"
HINT = "Try softmax_with_temperature(np.array([1.0, 2.0]), 4). What is 1 // 4, and what is 1 / 4?"


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) // float(temperature), axis=axis)


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
LIKELY = "softmax_with_temperature returns float64 for float32 input"
HINT = "Divide a float32 array by np.float64(2), then by the Python number 2.0. What dtype does NumPy 2 give you?"
VALUES_RIGHT = True


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / np.float64(temperature), axis=axis)


# %% temperature_without_a_maximum
LIKELY = "softmax_with_temperature has a softmax of its own, in which no maximum is subtracted"
HINT = "Try softmax_with_temperature(np.array([1000.0, 1001.0]), 1). Which function of yours can already do this?"
REPLACE = {
    "return softmax(np.asarray(x) / float(temperature), axis=axis)": (
        "exps = np.exp(np.asarray(x) / float(temperature))\nreturn exps / exps.sum(axis=axis, keepdims=True)"
    ),
}

# %% temperature_one_sum_without_a_maximum
LIKELY = "softmax_with_temperature has a softmax of its own, with one sum for the whole array and no maximum"
HINT = "Try a table of two rows, then scores of 1000. Which function of yours can already do this?"
REPLACE = {
    "return softmax(np.asarray(x) / float(temperature), axis=axis)": (
        "exps = np.exp(np.asarray(x) / float(temperature))\nreturn exps / exps.sum()"
    ),
}

# %% temperature_one_maximum_and_one_sum
LIKELY = "softmax_with_temperature has a softmax of its own, with one maximum and one sum for the whole array"
HINT = "What is the sum of your result for a table of two rows? Which function of yours can already do this?"
REPLACE = {
    "return softmax(np.asarray(x) / float(temperature), axis=axis)": (
        "scaled = np.asarray(x) / float(temperature)\nexps = np.exp(scaled - scaled.max())\nreturn exps / exps.sum()"
    ),
}

# %% temperature_asserted
LIKELY = "an `assert` refuses the temperature; that is an AssertionError, and Python can be told to skip it"
HINT = "Which exception does the docstring ask for? How do you raise it yourself?"
REPLACE = {
    'if temperature <= 0:\nraise ValueError(f"temperature must be above 0, not {temperature}")': (
        'assert temperature > 0, f"temperature must be above 0, not {temperature}"'
    ),
}

# %% temperature_divides_one
LIKELY = "the temperature is not checked: 1 / temperature raises Python's own error for 0, and nothing below 0"
HINT = "Try a temperature of 0, then one of -1. Which exception does the docstring ask for, and what does it contain?"
REPLACE = {
    'if temperature <= 0:\nraise ValueError(f"temperature must be above 0, not {temperature}")': "",
    "return softmax(np.asarray(x) / float(temperature), axis=axis)": (
        "return softmax(np.asarray(x) * (1 / float(temperature)), axis=axis)"
    ),
}

# %% reflect_powers_of_two
LIKELY = "these are the largest exponents for powers of 2, but np.exp takes powers of e"
HINT = "Evaluate np.exp(np.float32(127)). Is e^127 larger or smaller than 2^127?"
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 127
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 1023


# %% row_by_row
LIKELY = "Python handles the slices one by one, but NumPy can handle them all at once"
HINT = "How many steps does your loop take for a thousand rows? Which argument of max and sum replaces the loop?"
COSTLY = True


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    result = np.empty_like(moved)
    for index in np.ndindex(moved.shape[:-1]):
        exps = np.exp(moved[index] - moved[index].max())
        result[index] = exps / exps.sum()
    return np.moveaxis(result, -1, axis)


# %% every_pair
LIKELY = "every score is compared with every other score, so the work grows with the square of the length"
HINT = "How many numbers are in your largest array for a row of 1000 scores? How many does the formula need?"
COSTLY = True


def log_softmax(x, axis=-1):
    x = np.asarray(x)
    moved = np.moveaxis(x if x.dtype.kind == "f" else x.astype(np.float64), axis, -1)
    shifted = moved - moved.max(axis=-1, keepdims=True)
    table = np.broadcast_to(shifted[..., None, :], (*shifted.shape, shifted.shape[-1]))
    return np.moveaxis(shifted - np.log(np.exp(table).sum(axis=-1)), -1, axis)


# %% temperature_number_by_number
LIKELY = "the scores are divided by the temperature one at a time, in a Python loop"
HINT = "NumPy can divide a whole array by a number at once. What does x / 2 do?"
COSTLY = True


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    x = np.asarray(x)
    scaled = np.array(x, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    for index in np.ndindex(x.shape):
        scaled[index] = x[index] / temperature
    return softmax(scaled, axis=axis)

import numpy as np


# %% textbook_formula
# The formula as it is in the lesson, in one line: one sum for the whole array, and nothing is subtracted.
# Expected: one_sum_without_a_maximum
def softmax(x, axis=-1):
    return np.exp(x) / np.sum(np.exp(x))


# %% one_maximum_one_sum
# The numerically stable version of many blogs: one maximum and one sum for the whole array.
# Expected: one_maximum_and_one_sum
def softmax(x, axis=-1):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum()


# %% best_known_answer
# One maximum of the array, and sums along axis 0, as in a well-known answer on the web.
# Expected: axis_zero_and_global_max or axis_zero
def softmax(x, axis=-1):
    """Compute softmax values for each sets of scores in x."""
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)


# %% sums_of_columns
# The first quiz of an online course: np.sum(..., axis=0), and nothing is subtracted.
# Expected: axis_zero or no_max_subtraction
def softmax(x, axis=-1):
    return np.exp(x) / np.sum(np.exp(x), axis=0)


# %% builtin_sum
# The built-in sum adds up the rows of an array.
# Expected: axis_zero or no_max_subtraction
def softmax(x, axis=-1):
    exps = np.exp(x)
    total = sum(exps)
    return exps / total


# %% axis_written_in
# axis=1 is written in, as for a batch of rows.
# Expected: axis_one
def softmax(x, axis=-1):
    x_max = np.max(x, axis=1, keepdims=True)
    e_x = np.exp(x - x_max)
    return e_x / np.sum(e_x, axis=1, keepdims=True)


# %% reshaped_columns
# axis=1 with reshape(-1, 1) in place of keepdims: for tables only.
# Expected: axis_one
def softmax(x, axis=-1):
    exps = np.exp(x - np.max(x, axis=1).reshape(-1, 1))
    return exps / np.sum(exps, axis=1).reshape(-1, 1)


# %% transposed_twice
# A table is transposed, so that columns can be divided; anything else is one slice.
# Expected: only_tables_have_rows
def softmax(x, axis=-1):
    if x.ndim == 2:
        x = x.T
        x = x - np.max(x, axis=0)
        y = np.exp(x) / np.sum(np.exp(x), axis=0)
        return y.T
    x = x - np.max(x)
    return np.exp(x) / np.sum(np.exp(x))


# %% vector_or_batch
# Two cases: a vector, and everything else along axis 1.
# Expected: axis_one_beyond_vectors
def softmax(x, axis=-1):
    if x.ndim > 1:
        x = np.exp(x - np.max(x, axis=1, keepdims=True))
        x /= np.sum(x, axis=1, keepdims=True)
    else:
        x = np.exp(x - np.max(x))
        x /= np.sum(x)
    return x


# %% in_place_maximum
# x -= ... as in the notes of a vision course.
# Expected: subtracts_in_place or modifies_input
def softmax(x, axis=-1):
    x -= np.max(x, axis=axis, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


# %% in_place_global_maximum
# x -= np.max(x), and one sum.
# Expected: subtracts_in_place or modifies_input or one_maximum_and_one_sum
def softmax(x, axis=-1):
    x -= np.max(x)
    return np.exp(x) / np.sum(np.exp(x))


# %% rounded
# Rounded to the four decimals of the lesson's table.
# Expected: rounded_to_4_decimals
def softmax(x, axis=-1):
    x = np.asarray(x)
    exps = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.round(exps / np.sum(exps, axis=axis, keepdims=True), 4)


# %% rounded_to_two
# .round(2), to make it readable.
# Expected: rounded_to_2_decimals
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return (exps / exps.sum(axis=axis, keepdims=True)).round(2)


# %% tiny_epsilon
# 1e-9 is added to the sum, to be safe.
# Expected: epsilon_in_the_sum
def softmax(x, axis=-1):
    exps = np.exp(x - np.amax(x, axis=axis, keepdims=True))
    return exps / (np.sum(exps, axis=axis, keepdims=True) + 1e-9)


# %% epsilon_1e_8
# eps = 1e-8, as in an optimizer.
# Expected: epsilon_in_the_sum
def softmax(x, axis=-1, eps=1e-8):
    z = x - np.max(x, axis=axis, keepdims=True)
    num = np.exp(z)
    den = np.sum(num, axis=axis, keepdims=True) + eps
    return num / den


# %% clipped
# np.clip keeps np.exp finite.
# Expected: clips_scores or clips_scores_at_500
def softmax(x, axis=-1):
    x = np.clip(x, -500, 500)
    exps = np.exp(x)
    return exps / np.sum(exps, axis=axis, keepdims=True)


# %% overflow_hidden
# nan_to_num hides what overflowed.
# Expected: no name: rare, and each name makes the proof of the module longer
def softmax(x, axis=-1):
    exps = np.exp(x)
    return np.nan_to_num(exps / np.sum(exps, axis=axis, keepdims=True))


# %% plain_python_list
# Plain Python over one list, as in a first course on Python.
# Expected: list_of_one_row
def softmax(x, axis=-1):
    import math

    exps = [math.exp(i) for i in x]
    sum_of_exps = sum(exps)
    return [j / sum_of_exps for j in exps]


# %% builtin_max
# max and sum of Python's own, and an array comes back.
# Expected: no name: a vector comes out right, and for a table the exception says what is wrong
def softmax(x, axis=-1):
    m = max(x)
    exps = [np.exp(xi - m) for xi in x]
    total = sum(exps)
    return np.array([e / total for e in exps])


# %% builtin_max_list
# The same, and a list comes back.
# Expected: list_of_one_row_with_its_maximum
def softmax(x, axis=-1):
    biggest = max(x)
    nums = []
    for value in x:
        nums.append(np.exp(value - biggest))
    return [n / sum(nums) for n in nums]


# %% math_exp
# math.exp in a comprehension, and an array comes back.
# Expected: no name: a vector comes out right, and for a table the exception says what is wrong
def softmax(x, axis=-1):
    from math import exp

    z = [exp(v) for v in x]
    return np.array([v / sum(z) for v in z])


# %% table_in_place
# scores -= ... along axis 1, as in the notes of a vision course.
# Expected: axis_one or subtracts_in_place
def softmax(x, axis=-1):
    x -= np.max(x, axis=1, keepdims=True)
    probs = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    return probs


# %% columns_of_ones
# The sums of rows, transposed back: (np.exp(x).T / ...).T.
# Expected: axis_one
def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return (e.T / np.sum(e, axis=1)).T


# %% list_of_rows
# A list comprehension over rows, and a list comes back.
# Expected: returns_a_list
def softmax(x, axis=-1):
    if np.ndim(x) > 1:
        return [softmax(row) for row in x]
    m = max(x)
    exps = [np.exp(v - m) for v in x]
    return [e / sum(exps) for e in exps]


# %% not_divided
# The division is forgotten.
# Expected: not_normalised
def softmax(x, axis=-1):
    x = np.asarray(x)
    return np.exp(x - x.max(axis=axis, keepdims=True))


# %% only_the_exponentials
# exp only.
# Expected: only_exponentials
def softmax(x, axis=-1):
    return np.exp(x)


# %% shares
# Scores are divided by their sum, as for percentages.
# Expected: no_exponential
def softmax(x, axis=-1):
    return x / np.sum(x, axis=axis, keepdims=True)


# %% logistic
# The sigmoid of every entry.
# Expected: sigmoid
def softmax(x, axis=-1):
    return 1 / (1 + np.exp(-x))


# %% logarithms_returned
# The stable formula of log_softmax, without exp at the end.
# Expected: softmax_returns_logarithms
def softmax(x, axis=-1):
    x = np.asarray(x, dtype=x.dtype if x.dtype.kind == "f" else float)
    m = x.max(axis=axis, keepdims=True)
    return x - m - np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True))


# %% maximum_without_keepdims
# keepdims only where the sum is taken.
# Expected: maximum_without_keepdims
def softmax(x, axis=-1):
    exps = np.exp(x - np.max(x, axis=axis))
    return exps / np.sum(exps, axis=axis, keepdims=True)


# %% new_axis_at_the_end
# [:, None] in place of keepdims, whatever the axis is.
# Expected: new_axis_at_the_end
def softmax(x, axis=-1):
    exps = np.exp(x - np.max(x, axis=axis)[..., np.newaxis])
    return exps / np.sum(exps, axis=axis)[..., np.newaxis]


# %% always_double
# astype(np.float64) "for precision".
# Expected: upcasts_float32
def softmax(x, axis=-1):
    x = np.array(x).astype(np.float64)
    x = x - np.max(x, axis=axis, keepdims=True)
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


# %% log_whole_array
# log-sum-exp of the array, with one maximum.
# Expected: log_one_maximum_and_one_sum
def log_softmax(x, axis=-1):
    c = np.max(x)
    logsumexp = np.log(np.sum(np.exp(x - c)))
    return x - c - logsumexp


# %% log_textbook
# The formula as it stands.
# Expected: log_one_sum_without_a_maximum
def log_softmax(x, axis=-1):
    return x - np.log(np.sum(np.exp(x)))


# %% log_maximum_not_subtracted_again
# The maximum is subtracted inside exp only, and not added to the logarithm.
# Expected: log_maximum_lost
def log_softmax(x, axis=-1):
    x_max = np.max(x, axis=axis, keepdims=True)
    return x - np.log(np.sum(np.exp(x - x_max), axis=axis, keepdims=True))


# %% log_of_weights_plus_epsilon
# log(softmax + 1e-9), to avoid log(0).
# Expected: log_floor or log_floor_of_1e_9
def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis) + 1e-9)


# %% log_of_weights_plus_1e_10
# log(p + 1e-10), with an own softmax inside.
# Expected: log_floor or log_floor_of_1e_10
def log_softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    p = e / e.sum(axis=axis, keepdims=True)
    return np.log(p + 1e-10)


# %% log_axis_one
# axis=1 is written in.
# Expected: log_axis_one
def log_softmax(x, axis=-1):
    shifted = x - np.max(x, axis=1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))


# %% log_without_keepdims
# keepdims is missing in both reductions.
# Expected: log_keepdims_forgotten
def log_softmax(x, axis=-1):
    m = np.max(x, axis=axis)
    return x - m - np.log(np.sum(np.exp(x - m), axis=axis))


# %% log_base_ten
# np.log10.
# Expected: log_of_base_ten
def log_softmax(x, axis=-1):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log10(np.exp(shifted).sum(axis=axis, keepdims=True))


# %% log_rounded
# Rounded to four decimals.
# Expected: no name: rare, and each name makes the proof of the module longer
def log_softmax(x, axis=-1):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return np.round(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)), 4)


# %% loss
# The negative log-likelihood, as a loss needs it.
# Expected: log_negated
def log_softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True)) - (x - m)


# %% temperature_textbook
# The formula with x / T, one sum and no maximum.
# Expected: temperature_one_sum_without_a_maximum or temperature_not_checked
def softmax_with_temperature(x, temperature, axis=-1):
    exps = np.exp(x / temperature)
    return exps / np.sum(exps)


# %% temperature_own_softmax
# An own softmax inside, along the axis, without a maximum.
# Expected: temperature_without_a_maximum
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("temperature must be > 0, got " + str(temperature))
    exps = np.exp(x / temperature)
    return exps / exps.sum(axis=axis, keepdims=True)


# %% temperature_own_softmax_of_everything
# An own stable softmax, with one maximum and one sum.
# Expected: temperature_one_maximum_and_one_sum
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("temperature must be > 0, got %s" % temperature)
    z = x / temperature
    z = z - np.max(z)
    return np.exp(z) / np.sum(np.exp(z))


# %% temperature_asserted
# assert, in place of an exception.
# Expected: temperature_asserted
def softmax_with_temperature(x, temperature, axis=-1):
    assert temperature > 0, f"temperature must be positive, got {temperature}"
    scaled = x / temperature
    e = np.exp(scaled - np.max(scaled, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% temperature_type_error
# Another exception than the one that is asked for.
# Expected: no name: which exception it is stands in the first line
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise Exception(f"invalid temperature {temperature}")
    return softmax(x / float(temperature), axis=axis)


# %% temperature_inverse
# 1 / temperature as a factor: Python refuses to divide by 0, in its own words.
# Expected: temperature_divides_one
def softmax_with_temperature(x, temperature, axis=-1):
    beta = 1.0 / temperature
    return softmax(beta * x, axis=axis)


# %% temperature_zero_becomes_small
# 0 is replaced by a small number.
# Expected: temperature_not_checked
def softmax_with_temperature(x, temperature, axis=-1):
    t = max(temperature, 1e-8)
    z = x / t
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% temperature_not_refused
# Nothing is refused.
# Expected: temperature_not_checked
def softmax_with_temperature(x, temperature, axis=-1):
    return softmax(x / temperature, axis=axis)


# %% temperature_epsilon
# 1e-8 is added to the temperature, against a division by 0.
# Expected: no name: rare, and each name makes the proof of the module longer
def softmax_with_temperature(x, temperature, axis=-1):
    return softmax(x / (temperature + 1e-8), axis=axis)


# %% temperature_times
# x * temperature, with a refusal that says only what is wrong.
# Expected: multiplies_by_temperature or temperature_not_named
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("Temperature must be positive!")
    return softmax(x * temperature, axis)


# %% temperature_after
# The weights are divided.
# Expected: divides_the_weights
def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError("temperature %r is not above 0" % temperature)
    weights = softmax(x, axis)
    return weights / temperature


# %% temperature_default_axis
# axis is not passed on.
# Expected: temperature_ignores_axis
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("bad temperature: {}".format(temperature))
    return softmax(x / temperature)

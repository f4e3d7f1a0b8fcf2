"""The checks of the assignment, written once. Each gets the function to test; its docstring is the property.

The first check of a function is the visible one. `words.py` has the assertions as a notebook's test cell would define
them; in AttnLab the same names are those of `grader.testing`.
"""

import numpy as np

SCORES = np.array([0.0, 2.0, 1.0, 1.0, 1.5])
SQUARE = np.array([[0.0, 2.0, -1.0], [1.0, 4.0, 0.5], [3.0, 1.0, 2.0]])
BLOCK = np.arange(24.0).reshape(2, 3, 4) % 7
HIGH = np.array([[1000.0, 1001.0, 1003.0], [-1000.0, -1001.0, -1003.0]])
FAR = np.array([[0.0, -2000.0], [5000.0, 4999.0]])


def oracle_log_softmax(x, axis=-1):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


def oracle_softmax(x, axis=-1):
    return np.exp(oracle_log_softmax(x, axis))


def softmax_of_the_example(softmax):
    """softmax of the example gives the weights worked out by hand"""
    assert_close(softmax(SCORES), np.exp(SCORES) / np.exp(SCORES).sum())


def softmax_rows_sum_to_one(softmax):
    """each row of a square softmax is a probability distribution"""
    assert_rows_sum_to_one(softmax(SQUARE), SQUARE.shape)


def softmax_of_large_scores(softmax):
    """scores of 1000 and more neither overflow nor vanish"""
    assert_rows_sum_to_one(softmax(HIGH), HIGH.shape)
    assert_close(softmax(HIGH - HIGH.max(axis=-1, keepdims=True)), array_like(softmax(HIGH), HIGH.shape))


def softmax_along_every_axis(softmax):
    """softmax works along whichever axis is asked for"""
    for axis in (0, 1, 2, -1, -2):
        assert_close(softmax(BLOCK, axis=axis), oracle_softmax(BLOCK, axis))


def softmax_shift_invariance(softmax):
    """adding one number to all scores changes nothing, along the other axis, too"""
    assert_close(softmax(SQUARE + 900.0), array_like(softmax(SQUARE), SQUARE.shape))
    columns = array_like(softmax(SQUARE, axis=0), SQUARE.shape)
    assert_close(columns.sum(axis=0), np.ones(3))


def softmax_leaves_its_input(softmax):
    """softmax leaves its input as it was"""
    before = np.array([[0.5, 2.0], [1.0, 4.0]])  # of its own: in a notebook, an earlier check may have spoilt SQUARE
    value, x = after(softmax, before.copy())
    assert_rows_sum_to_one(value, before.shape)
    assert_close(x, before)


def log_softmax_of_the_example(log_softmax):
    """log_softmax of the example gives the logarithms worked out by hand"""
    assert_close(log_softmax(SCORES), SCORES - np.log(np.exp(SCORES).sum()))


def log_softmax_is_a_logarithm(log_softmax):
    """the exponentials of a log-softmax are a probability distribution"""
    assert_rows_sum_to_one(np.exp(array_like(log_softmax(SQUARE), SQUARE.shape)), SQUARE.shape)


def log_softmax_of_scores_far_apart(log_softmax):
    """scores thousands apart have finite logarithms"""
    assert_close(log_softmax(FAR[0]), FAR[0])
    assert_close(log_softmax(FAR), oracle_log_softmax(FAR))


def log_softmax_keeps_differences(log_softmax):
    """the difference of two results of a row is that of their scores"""
    for x in (SQUARE, 50 * SQUARE, 500 * SQUARE):
        result = array_like(log_softmax(x), x.shape)
        assert_close(np.diff(result, axis=-1), np.diff(x, axis=-1))


def log_softmax_along_every_axis(log_softmax):
    """log_softmax works along whichever axis is asked for"""
    for axis in (0, 1, 2, -1, -2):
        assert_close(log_softmax(BLOCK, axis=axis), oracle_log_softmax(BLOCK, axis))


def softmax_with_temperature_of_the_example(softmax_with_temperature):
    """a temperature of 2 halves the scores"""
    exps = np.exp(SCORES / 2)
    assert_close(softmax_with_temperature(SCORES, 2.0), exps / exps.sum())


def softmax_with_temperature_rows_sum_to_one(softmax_with_temperature):
    """at any temperature each row is a probability distribution"""
    for temperature in (0.5, 1.0, 4.0):
        assert_rows_sum_to_one(softmax_with_temperature(SQUARE, temperature), SQUARE.shape)


def softmax_with_temperature_flattens(softmax_with_temperature):
    """the largest weight falls as the temperature rises"""
    results = [softmax_with_temperature(SQUARE, temperature) for temperature in (0.25, 1.0, 3.0, 50.0)]
    largest = np.array([array_like(result, SQUARE.shape).max() for result in results])
    assert (np.diff(largest) < 0).all(), "a higher temperature did not make the weights flatter"


def softmax_with_temperature_along_every_axis(softmax_with_temperature):
    """softmax_with_temperature works along whichever axis is asked for"""
    for axis in (0, 1, 2):
        assert_close(softmax_with_temperature(BLOCK, 2.5, axis=axis), oracle_softmax(BLOCK / 2.5, axis))


def softmax_with_temperature_refuses(softmax_with_temperature):
    """a temperature of 0 or below is refused with a ValueError that names it"""
    for temperature in (0.0, -2.0):
        assert_raises(ValueError, lambda wrong=temperature: softmax_with_temperature(SQUARE, wrong), temperature)

"""Visible checks of 01_softmax. Run them with `attn test softmax` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import assert_close, assert_raises, assert_rows_sum_to_one, worth

SCORES = np.array([0.0, 2.0, 1.0, 1.0, 1.5])  # raw scores of the token "The", from the shared example


@worth(2, "softmax of the lesson's scores gives the lesson's weights")
def test_softmax_of_the_shared_example(student):
    exps = np.exp(SCORES)
    assert_close(student.softmax(SCORES), exps / exps.sum(), of="softmax([0, 2, 1, 1, 1.5])")


@worth(1, "the weights of each row are 0 or above and sum to 1")
def test_softmax_rows_sum_to_one(student, rng):
    assert_rows_sum_to_one(student.softmax(rng.normal(size=(3, 7))), (3, 7))


@worth(1, "log_softmax of the lesson's scores gives the lesson's logarithms", target="log_softmax")
def test_log_softmax_of_the_shared_example(student):
    expected = SCORES - np.log(np.exp(SCORES).sum())
    assert_close(student.log_softmax(SCORES), expected, of="log_softmax([0, 2, 1, 1, 1.5])")


@worth(1, "a temperature of 2 halves the scores", target="softmax_with_temperature")
def test_temperature_of_the_shared_example(student):
    exps = np.exp(SCORES / 2)
    assert_close(student.softmax_with_temperature(SCORES, 2.0), exps / exps.sum(), of="temperature 2")


@worth(1, "a temperature of 0 raises a ValueError that names it", target="softmax_with_temperature")
def test_temperature_of_zero_is_refused(student):
    assert_raises(ValueError, lambda: student.softmax_with_temperature(SCORES, 0.0), 0.0)

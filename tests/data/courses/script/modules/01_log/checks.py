"""Visible checks of 01_log."""

import numpy as np

from grader.testing import assert_close, worth


@worth(2, "the mean of one row is that row")
def test_mean_of_one_row(student):
    log = student.Log(2)
    log.append(np.array([3.0, 4.0]))
    assert_close(log.mean(), np.array([3.0, 4.0]))

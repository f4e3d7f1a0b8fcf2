"""Visible checks of 01_double."""

import numpy as np

from grader.testing import assert_close, worth


@worth(2, "three is doubled to six")
def test_double_of_three(student):
    assert_close(student.double(np.array([3.0])), np.array([6.0]))

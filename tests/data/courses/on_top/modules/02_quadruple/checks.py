"""Visible checks of 02_quadruple."""

import numpy as np

from grader.testing import assert_close, worth


@worth(2, "three becomes twelve")
def test_quadruple_of_three(student):
    assert_close(student.quadruple(np.array([3.0])), np.array([12.0]))

"""Visible checks of 04_vectors: run them with `attn test vectors` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import assert_close, worth


@worth(2, "three is doubled to six")
def test_vectors_of_three(student):
    assert_close(student.vectors(np.array([3.0])), np.array([6.0]))

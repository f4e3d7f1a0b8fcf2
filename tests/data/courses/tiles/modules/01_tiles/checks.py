"""Visible checks of 01_tiles."""

import numpy as np

from grader.testing import assert_close, worth


@worth(1, "three tokens in tiles of two", target="tiled_sum")
def test_tiled_sum_of_three(student):
    Q, K = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [1.0], [2.0]])
    assert_close(student.tiled_sum(Q, K, 2), np.array([6.0, 24.0, 54.0]))


@worth(1, "three tokens in tiles of one", target="causal_sum")
def test_causal_sum_of_three(student):
    Q, K = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [1.0], [2.0]])
    assert_close(student.causal_sum(Q, K, 2), np.array([1.0, 8.0, 54.0]))

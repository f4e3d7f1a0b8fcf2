"""Visible checks of 01_cache."""

import numpy as np

from grader.testing import assert_close, worth


@worth(1, "the second update returns both keys", target="KeyCache")
def test_two_updates(student):
    cache = student.KeyCache(np.array([[1.0, 2.0], [0.0, 1.0]]), 3)
    cache.update(np.array([[1.0, 1.0]]))
    assert_close(cache.update(np.array([[2.0, 0.0]])), np.array([[1.0, 3.0], [2.0, 4.0]]))


@worth(1, "three equal tokens give one, two and three times the key", target="decode")
def test_equal_tokens(student):
    cache = student.KeyCache(np.eye(2), 3)
    assert_close(student.decode(cache, np.ones((3, 2))), np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))

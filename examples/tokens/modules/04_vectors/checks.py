"""Visible checks of 04_vectors: run them with `attn test vectors` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import Tolerance, array_like, assert_close, assert_raises, worth

# The example of the lesson.
TABLE = np.array(
    [[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, -0.5, -0.5], [2, -1, 0, 1], [0, 0, 0, 1]]
)
IDS = [4, 0, 4]
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals


@worth(1.5, "the ids of the lesson have the vectors of the lesson", target="look_up")
def test_look_up_of_the_lesson(student):
    assert_close(student.look_up(IDS, TABLE), np.array([[2, -1, 0, 1], [0.1, 0.2, 0.3, 0.4], [2, -1, 0, 1]]))


@worth(0.5, "an id that the table does not have raises a ValueError that names it", target="look_up")
def test_look_up_of_an_unknown_id(student):
    assert_raises(ValueError, lambda: student.look_up([4, 17], TABLE), 17)


@worth(1, "each row has a single 1, in the column of its id", target="one_hot")
def test_one_hot_of_the_lesson(student):
    expected = np.array([[0.0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]])
    assert_close(student.one_hot(IDS, 6), expected)


@worth(1, "the first positions are those of the lesson", target="sinusoidal")
def test_sinusoidal_of_the_lesson(student):
    table = array_like(student.sinusoidal(3, 4), (3, 4))
    assert_close(table[0], np.array([0.0, 1, 0, 1]), LESSON, of="position 0")
    assert_close(table[2], np.array([0.9093, -0.4161, 0.0200, 0.9998]), LESSON, of="position 2")


@worth(0.5, "an odd width raises a ValueError that names it", target="sinusoidal")
def test_sinusoidal_of_an_odd_width(student):
    assert_raises(ValueError, lambda: student.sinusoidal(2, 7), 7)


@worth(1.5, "the sums of the lesson are right", target="embed")
def test_embed_of_the_lesson(student):
    positions = np.array([[0, 1, 0, 1], [0.8415, 0.5403, 0.01, 1], [0.9093, -0.4161, 0.02, 0.9998], [0.1, 0, 0, 0]])
    expected = np.array([[2, 0, 0, 2], [0.9415, 0.7403, 0.31, 1.4], [2.9093, -1.4161, 0.02, 1.9998]])
    assert_close(student.embed(IDS, TABLE, positions), expected)


@worth(
    0.5, "a text that is too long raises a ValueError that names its length and the number of positions", target="embed"
)
def test_embed_of_a_long_text(student):
    assert_raises(ValueError, lambda: student.embed(IDS, TABLE, np.ones((2, 4))), 3, 2)

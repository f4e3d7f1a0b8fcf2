"""Visible checks of 02_pairs: run them with `attn test pairs` or `python -m pytest checks.py`."""

from grader.testing import assert_close, worth


@worth(2, "the words of the lesson's sentence are counted")
def test_pairs_of_the_lesson(student):
    assert_close(student.pairs("To be or not to be"), {"to": 2, "be": 2, "or": 1, "not": 1})

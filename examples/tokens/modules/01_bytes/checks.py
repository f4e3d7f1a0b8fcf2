"""Visible checks of 01_bytes: run them with `attn test bytes` or `python -m pytest checks.py`."""

from grader.testing import assert_close, worth


@worth(2, "the words of the lesson's sentence are counted")
def test_bytes_of_the_lesson(student):
    assert_close(student.bytes("To be or not to be"), {"to": 2, "be": 2, "or": 1, "not": 1})

"""Visible checks of 01_words."""

from grader.testing import assert_equal, worth


@worth(1, "words have small letters and no signs", target="split_words")
def test_words(student):
    assert_equal(student.split_words("One, two!"), ["one", "two"])


@worth(1, "every word is counted", target="count_words")
def test_counts(student):
    assert_equal(student.count_words(["b", "a", "b"]), {"a": 1, "b": 2})

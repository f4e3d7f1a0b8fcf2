"""Hidden suite of 01_bytes."""

from collections import Counter

from grader.testing import assert_close, worth

WORDS = ("Oak", "oak", "elm", "ash", "elm", "ELM", "yew")


def oracle_bytes(text):
    return dict(Counter(text.lower().split()))


@worth(4, "it agrees with an independent count of words in any order")
def test_bytes_agrees_with_the_oracle(student, rng):
    text = "  ".join(rng.permutation(WORDS).tolist())
    assert_close(student.bytes(text), oracle_bytes(text))


@worth(2, "upper and lower case are the same word")
def test_bytes_ignores_case(student):
    assert_close(student.bytes("The cat saw THE Cat"), {"the": 2, "cat": 2, "saw": 1})


@worth(1, "white space of any kind separates words")
def test_bytes_splits_at_any_white_space(student):
    assert_close(student.bytes("a  b\nc\ta"), {"a": 2, "b": 1, "c": 1})


@worth(1, "a text without words gives an empty dictionary")
def test_bytes_of_nothing(student):
    assert_close(student.bytes(" \n"), {})

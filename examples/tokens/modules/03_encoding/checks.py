"""Visible checks of 03_encoding: run them with `attn test encoding` or `python -m pytest checks.py`."""

from grader.testing import assert_equal, assert_raises, worth

MERGES = [(116, 104), (32, 256), (105, 110), (257, 101), (257, 258)]  # those of the lesson


@worth(1, "the new tokens of the lesson have the right bytes", target="vocabulary")
def test_vocabulary_of_the_lesson(student):
    tokens = student.vocabulary(MERGES)
    assert type(tokens) is list, "the result is not a list"
    assert_equal(tokens[256:], [b"th", b" th", b"in", b" the", b" thin"], of="the entries from 256 on")


@worth(1, "a new chunk begins at every space", target="chunks")
def test_chunks_of_the_lesson(student):
    assert_equal(student.chunks("that thing they"), ["that", " thing", " they"])


@worth(1.5, "the text of the lesson has the ids of the lesson", target="encode")
def test_encode_of_the_lesson(student):
    assert_equal(student.encode("that thing", MERGES), [256, 97, 116, 260, 103])


@worth(0.5, "of b c and a b, the pair that was learned first is merged first", target="encode")
def test_encode_order_of_the_lesson(student):
    assert_equal(student.encode("abc", [(98, 99), (97, 98)]), [97, 256])


@worth(1, "the ids of the lesson have the text of the lesson", target="decode")
def test_decode_of_the_lesson(student):
    assert_equal(student.decode([256, 97, 116, 260, 103], MERGES), "that thing")


@worth(0.5, "the two bytes of é are one character", target="decode")
def test_decode_of_an_accent(student):
    assert_equal(student.decode([195, 169], MERGES), "é")


@worth(0.5, "an id that is not in the vocabulary raises a ValueError that names it", target="decode")
def test_decode_of_an_unknown_id(student):
    assert_raises(ValueError, lambda: student.decode([261], MERGES), 261)

"""Visible checks of 01_bytes: run them with `attn test bytes` or `python -m pytest checks.py`."""

from grader.testing import arguments, assert_equal, assert_raises, worth


@worth(1, "the word of the lesson has the bytes of the lesson")
def test_text_to_ids_of_the_lesson(student):
    assert_equal(student.text_to_ids("Hi"), [72, 105])


@worth(2, "a character with an accent has two bytes")
def test_text_to_ids_of_an_accent(student):
    assert_equal(student.text_to_ids("né!"), [110, 195, 169, 33])


@worth(1, "the bytes of the lesson give its text", target="ids_to_text")
def test_ids_to_text_of_the_lesson(student):
    assert_equal(student.ids_to_text([110, 195, 169, 33]), "né!")


@worth(1, "an id above 255 raises a ValueError that names it", target="ids_to_text")
def test_ids_to_text_refuses_what_is_no_byte(student):
    assert_raises(ValueError, lambda: student.ids_to_text([72, 300]), 300)


@worth(1, "the characters of the lesson begin where the lesson says", target="character_starts")
def test_character_starts_of_the_lesson(student):
    assert_equal(student.character_starts([110, 195, 169, 33]), [0, 1, 3])


@worth(2, "a character that does not fit is left out", target="cut_to_fit")
def test_cut_to_fit_of_the_lesson(student):
    results = student.cut_to_fit.call_many([arguments([110, 195, 169, 33], limit) for limit in (1, 2, 3)])
    assert_equal(results, [[110], [110], [110, 195, 169]])

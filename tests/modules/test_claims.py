"""Every phrase with numbers in `claims` is in its lesson, with the numbers that are computed there."""

from __future__ import annotations

import re

import pytest

from grader.course.course import Course
from tests.modules.claims import CLAIMS
from tests.modules.lessons import is_rounded

_NUMBER = re.compile(r"[−-]?(?:\d*\.)?\d+")


@pytest.mark.parametrize("name", CLAIMS)
def test_what_a_lesson_says_in_words_is_computed(course: Course, name: str) -> None:
    module = course.module(name)
    pages = [module.lesson, *(path for path in module.beside_lesson if path.suffix == ".md")]
    words = " ".join(" ".join(page.read_text() for page in pages).split())
    for phrase, numbers in CLAIMS[name].items():
        assert phrase in words, phrase
        written = _NUMBER.findall(phrase)
        assert len(written) == len(numbers), phrase
        for number, computed in zip(written, numbers, strict=True):
            assert is_rounded(number, abs(float(computed))), f"{phrase}: {computed} is not {number}"
            assert (number[0] in "−-") == (computed < -1e-12), phrase

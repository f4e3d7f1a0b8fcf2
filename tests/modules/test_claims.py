"""Every phrase with numbers in `claims` is in its lesson, with the numbers that are computed there."""

from __future__ import annotations

import re

import pytest

from grader.course.course import Course
from tests.conftest import ROOT
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


def test_the_time_of_sixteen_bits_is_the_measured_one(course: Course) -> None:
    """Lesson 07 quotes the first table in docs/gpu.md."""
    text = (ROOT / "docs/gpu.md").read_text()
    table = re.findall(
        r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|",
        text.partition("A module that runs only on a GPU")[0],
        re.M,
    )
    assert [int(row[0]) for row in table] == [512, 1024, 2048, 4096, 8192]
    for n, time, memory, half_time, half_memory in table:
        ratio = float(half_time) / float(time)
        assert ratio > 1 if int(n) <= 2048 else abs(ratio - 0.8) < 0.02
        assert float(half_memory) > float(memory)
    words = " ".join(course.module("07_gpu_path").lesson.read_text().split())
    assert "up to n = 2048, and about a fifth less time at 4096 and 8192. It also needed *more* memory" in words

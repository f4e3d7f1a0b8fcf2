"""Every decimal number in a lesson is claimed here by something that computes it; an unclaimed one fails."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course import Course

SCORES = np.array([0, 2, 1, 1, 1.5])


def softmax(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(x) / np.exp(x).sum())


def softmax_numbers() -> Iterable[float]:
    """Every number of 01's lesson, from the formula."""
    yield from SCORES
    yield from np.exp(SCORES)
    yield np.exp(SCORES).sum()
    yield from softmax(SCORES)
    shifted = SCORES - SCORES.max()
    yield from shifted
    yield from np.exp(shifted)
    yield np.exp(shifted).sum()
    yield np.log(np.exp(shifted).sum())
    yield from np.log(softmax(SCORES))
    for temperature in (0.5, 1, 2, 100):
        yield temperature
        yield from softmax(SCORES / temperature)
    yield -0.5  # an example of a score


CLAIMS = {"01_softmax": softmax_numbers}


@pytest.mark.parametrize("name", CLAIMS)
def test_every_decimal_of_a_lesson_is_computed(course: Course, name: str) -> None:
    texts = [course.module(name).lesson.read_text(), course.module(name).stub.read_text()]
    written = [number for text in texts for number in re.findall(r"(?<![\w.])[−-]?\d*\.\d+", text)]
    assert written
    claimed = [abs(float(number)) for number in CLAIMS[name]()]
    for number in written:
        decimals = len(number.partition(".")[2])
        value = abs(float(number.replace("−", "-")))
        assert any(round(claim, decimals) == value for claim in claimed), f"{number} is claimed by nothing"


def test_every_module_has_its_numbers_claimed(course: Course) -> None:
    assert set(CLAIMS) == {module.name for module in course.modules}


def test_the_shared_example_is_the_published_one() -> None:
    assert softmax(SCORES).round(4).tolist() == [0.0546, 0.4036, 0.1485, 0.1485, 0.2448]
    assert softmax(SCORES / 2).round(4).tolist() == [0.1095, 0.2976, 0.1805, 0.1805, 0.2318]


def test_the_rows_of_a_lesson_stand_where_they_were_computed(course: Course) -> None:
    lesson = course.module("01_softmax").lesson.read_text()
    for temperature in (0.5, 1, 2, 100):
        weights = " | ".join(f"{weight:.4f}"[1:] for weight in softmax(SCORES / temperature))
        assert f"| {temperature} | {weights} |" in lesson
    assert "| weight | .0546 | .4036 | .1485 | .1485 | .2448 | 1 |" in lesson

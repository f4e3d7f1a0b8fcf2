"""The lesson of 01_softmax: every number in it is computed here."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from tests.conftest import ROOT
from tests.modules.lessons import SCORES, K, Q, row, softmax, unclaimed, weights


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
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
    yield from SCORES / 2
    yield from (0.1, 0.01)  # temperatures to try
    yield from weights(Q, K)[0]  # on the page before the lesson


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("01_softmax"), numbers()) == []


def test_the_rows_are_computed(course: Course) -> None:
    lesson = course.module("01_softmax").lesson.read_text()
    for temperature in (0.5, 1, 2, 100):
        assert f"| {temperature} | {row(softmax(SCORES / temperature))} |" in lesson
    assert f"| weight | {row(softmax(SCORES))} | 1 |" in lesson


def test_only_softmax_and_the_largest_see_nothing_but_differences() -> None:
    """Each way of the lesson's table, on scores and on the same scores with 100 added."""
    ways = {
        "divide by the sum": lambda x: x / x.sum(),
        "divide absolute values": lambda x: np.abs(x) / np.abs(x).sum(),
        "set negative scores to 0 first": lambda x: np.maximum(x, 0) / np.maximum(x, 0).sum(),
        "give everything to the largest score": lambda x: np.eye(len(x))[x.argmax()],
        "softmax": softmax,
    }
    blind = {name for name, way in ways.items() if np.allclose(way(SCORES), way(SCORES + 100))}
    assert blind == {"give everything to the largest score", "softmax"}


def test_a_share_is_0_where_its_exponential_underflows(course: Course) -> None:
    assert "by about 104 in float32, and by about 745 in float64" in " ".join(
        course.module("01_softmax").lesson.read_text().split()
    )
    with np.errstate(under="ignore"):
        assert np.exp(np.array([-104.5, -746.0]))[1] == np.exp(np.float32(-104.5)) == 0
        assert np.exp(-745.0) > 0
    assert np.log(float(np.finfo(np.float32).smallest_subnormal)) == pytest.approx(-103.3, abs=0.1)


def test_what_a_model_wrote_is_the_measured_sample(course: Course) -> None:
    sample = course.module("01_softmax").lesson.read_text().partition("\n> ")[2].partition("\n")[0]
    assert f"```text\n{sample}\n```" in (ROOT / "docs/gpt.md").read_text()


def test_the_question_under_use_has_the_suggested_answer() -> None:
    assert softmax(SCORES / 0.1).max() < 0.99995 < softmax(SCORES / 0.01).max()
    tied = np.where(np.arange(5) == 2, 2.0, SCORES)
    assert all(softmax(tied / t)[1] == softmax(tied / t)[2] for t in (0.01, 1, 100))

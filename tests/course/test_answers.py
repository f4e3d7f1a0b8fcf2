"""Answers under Reflect, judged by their hashes."""

from __future__ import annotations

import numpy as np
import pytest

from grader.course.answers import answer_hash, canonical, is_right, literal_answers
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import read_text
from tests.conftest import ROOT

NAME = "REFLECT_BYTES"


def right(answer: object, given: object) -> bool:
    return is_right({NAME: answer_hash("01_a", NAME, answer)}, "01_a", NAME, given)


@pytest.mark.parametrize("given", [709, 709.0, np.int64(709), np.float32(709)])
def test_a_number_of_any_type_is_right(given: object) -> None:
    assert right(709, given)


@pytest.mark.parametrize(
    "given", [710, 708.9999, -709, "709", "709 bytes", None, True, [709], float("nan"), float("inf")]
)
def test_another_answer_is_not(given: object) -> None:
    assert not right(709, given)


def test_answers_that_are_not_whole_have_four_digits() -> None:
    assert right(4.174, 4.17438727)
    assert right(-0.1875, -3 / 16)
    assert not right(4.174, 4.17)
    assert right(47117, 47116.96)
    assert not right(4, 4.2)


def test_a_text_is_right_in_any_case() -> None:
    assert right("The cat", " the  CAT")
    assert canonical("a") != canonical("b")


def test_a_question_may_have_several_right_answers() -> None:
    hashes = {NAME: " ".join(answer_hash("01_a", NAME, value) for value in (47117, 47116))}
    assert is_right(hashes, "01_a", NAME, 47116)
    assert is_right(hashes, "01_a", NAME, 47116.4)
    assert not is_right(hashes, "01_a", NAME, 47115)


def test_a_question_without_a_hash_is_not_judged() -> None:
    assert is_right({}, "01_a", NAME, 1)


def test_the_golden_files_know_every_answer_and_hold_none(course: Course) -> None:
    for module in course.modules:
        solution = read_text(course.solution(module))
        answers = literal_answers(solution, course.api(module).constants)
        golden = read_golden(module)
        assert set(golden.answers) == set(course.api(module).constants) == set(answers), ROOT
        for name, value in list(answers.items())[:1]:
            assert is_right(golden.answers, module.name, name, value)
            assert not is_right(golden.answers, module.name, name, value + 2)

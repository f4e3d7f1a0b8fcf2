"""Answers that grading accepts are right for `attn complete`, too."""

from __future__ import annotations

from pathlib import Path

from grader.authoring.near_answers import accepted_answers
from grader.course.answers import is_right
from grader.course.course import Course
from grader.course.golden import read_golden

SUITE = """
from grader.testing import worth

@worth(1, "the sum is right", target="reflect")
def test_sum(student):
    assert student.SUM == 5

@worth(1, "the length is about right", target="reflect")
def test_length(student):
    assert abs(student.LENGTH - 47117) <= 1

@worth(1, "the loss is about right", target="reflect")
def test_loss(student):
    assert abs(student.LOSS - 4.1744) < 0.001

@worth(1, "this one looks at a function", target="reflect")
def test_function(student, rng):
    assert student.function() == student.SUM
"""
ANSWERS = {"SUM": 5, "LENGTH": 47117, "LOSS": 4.174, "WORD": "cat"}


def test_the_neighbours_that_a_suite_accepts_are_accepted(tmp_path: Path) -> None:
    suite = tmp_path / "test_01_tiny.py"
    suite.write_text(SUITE)
    found = accepted_answers(suite, ANSWERS)
    assert found == {"SUM": [5], "LENGTH": [47117, 47116, 47118], "LOSS": [4.174, found["LOSS"][1]], "WORD": ["cat"]}
    assert round(found["LOSS"][1], 3) == 4.175


def test_a_suite_that_cannot_be_asked_accepts_the_answer_alone(tmp_path: Path) -> None:
    suite = tmp_path / "test_01_tiny.py"
    suite.write_text(SUITE.replace("student.SUM == 5", "student.function() == 5"))
    assert accepted_answers(suite, ANSWERS) == {name: [value] for name, value in ANSWERS.items()}


def test_a_wavelength_that_is_cut_off_is_right(course: Course) -> None:
    answers, name = read_golden(course.module("positions")).answers, "REFLECT_LONGEST_WAVELENGTH_D64"
    assert [one for one in range(47114, 47121) if is_right(answers, "08_positions", name, one)] == [47116, 47117, 47118]

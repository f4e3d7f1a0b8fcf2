"""The engine's own check: a function leaves its arguments as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.core.report import CheckResult, Report
from grader.course.course import Course
from grader.course.module import CourseError
from grader.grading.grade import check_own_files, full_suite, grade
from grader.grading.notebook_magic import ChecksFailedError, check
from grader.grading.run_suite import run_suite
from grader.submission.submission import Source, Submission
from tests.conftest import GradeSource

RIGHT = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
CHANGES = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    if x.ndim == 1 and x.dtype.kind == "f":
        x[...] = 0
    return e / e.sum(axis=axis, keepdims=True)
"""
REFUSES = """
def softmax(x, axis=-1):
    raise ValueError("0 -0.5 no")

def softmax_with_temperature(x, temperature, axis=-1):
    raise ValueError(f"no {temperature}")
"""


def engine_checks(report: Report) -> dict[str, CheckResult]:
    return {one.target: one for one in report.checks if one.name.endswith("_leaves_its_arguments")}


def test_a_right_function_earns_the_points(grade_source: GradeSource) -> None:
    found = engine_checks(grade_source(RIGHT))
    assert found["softmax"].outcome == "passed"
    assert found["softmax"].earned == found["softmax"].points == 1
    assert found["softmax"].property == "softmax leaves its arguments as they were"
    assert found["log_softmax"].outcome == "held_back"  # it is not there, so it changes nothing


def test_a_change_fails_one_check_only(grade_source: GradeSource) -> None:
    report = grade_source(CHANGES)
    failed = [one for one in report.checks if one.target == "softmax" and one.outcome == "failed"]
    assert [one.name for one in failed] == ["softmax_leaves_its_arguments"]
    public = failed[0].message
    assert "softmax changed argument 1 (x), in the check: softmax of the lesson's scores" in public
    assert failed[0].earned == 0
    assert failed[0].detail == "softmax changed argument 1 (x), in the check softmax_of_the_shared_example"


def test_a_change_in_a_hidden_check_does_not_tell_which(grade_source: GradeSource) -> None:
    found = engine_checks(grade_source(CHANGES.replace("x.ndim == 1 and", "x.ndim == 3 and")))["softmax"]
    expected = "not true for your code: softmax leaves its arguments as they were (softmax changed the argument x. "
    assert found.message == expected + "Work on a copy.)"
    assert found.detail == "softmax changed the argument x, in the check softmax_agrees_with_the_oracle"


def test_a_function_that_only_refuses_earns_nothing(grade_source: GradeSource) -> None:
    report = grade_source(REFUSES)
    refused = [one for one in report.checks if one.target == "softmax_with_temperature" and one.outcome == "passed"]
    assert refused  # it passes a check, but no call of it returns
    assert engine_checks(report)["softmax_with_temperature"].outcome == "held_back"


def test_another_function_in_the_same_process_is_not_to_blame(grade_source: GradeSource) -> None:
    """What one function does to its process must not make a right one fail."""
    sabotage = (
        RIGHT
        + """
BROKEN = []

def log_softmax(x, axis=-1):
    BROKEN.append(1)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))

def softmax_with_temperature(x, temperature, axis=-1):
    if BROKEN:
        x *= 1.5
        x /= 3
    if temperature <= 0:
        raise ValueError(f"{temperature}")
    return softmax(np.asarray(x) / temperature, axis)
"""
    )
    assert engine_checks(grade_source(sabotage))["softmax_with_temperature"].outcome == "passed"


def own_report(course: Course, source: str) -> Report:
    module = course.module("01_softmax")
    reports: list[Report] = []
    submission = Submission("you", module.name, "softmax.py", {"softmax": Source("softmax.py", (source,), False)})
    check_own_files(course, module, [submission], reports.append)
    return reports[0]


def test_students_see_it_on_their_own_machine(course: Course) -> None:
    assert engine_checks(own_report(course, RIGHT)) == {}
    (found,) = engine_checks(own_report(course, CHANGES)).values()
    assert (found.suite, found.outcome, found.points) == ("visible", "failed", 0)
    assert found.message.startswith("softmax changed argument 1 (x), in the check: softmax of the lesson's scores")


CELL = """
import numpy as np
from grader.testing import assert_close, worth

@worth(1, "two equal scores")
def test_two(student):
    assert_close(student.softmax(np.zeros(2)), np.array([0.5, 0.5]))
"""


def test_a_notebook_shows_it() -> None:
    def softmax(x: np.ndarray) -> np.ndarray:
        x += 1
        return np.full(2, 0.5)

    with pytest.raises(
        ChecksFailedError, match=r"FAILED  softmax leaves its arguments as they were\n.*changed argument 1"
    ):
        check("01_softmax softmax", CELL, {"softmax": softmax})
    assert "1 of 1" in check("01_softmax softmax", CELL, {"softmax": lambda x: np.exp(x) / 2})


def test_points_are_declared_in_one_line(tiny: Course) -> None:
    module = tiny.modules[0]
    assert module.unchanged == {"tiny": 1.0}
    suite = full_suite(tiny, module)
    for wrong, problem in (({"other": 1.0}, "is not a target"), ({"tiny": 2.0}, "the checks and costs are worth 11")):
        with pytest.raises(CourseError, match=problem):
            run_suite(replace(suite, module=replace(module, unchanged=wrong)), lambda *_: None)


def test_an_author_cannot_take_the_name(tiny: Course) -> None:
    suite = Path(tiny.hidden_suite(tiny.modules[0]))
    suite.write_text(suite.read_text().replace("def test_tiny_is_linear", "def test_tiny_leaves_its_arguments"))
    with pytest.raises(CourseError, match="makes a second check tiny_leaves_its_arguments"):
        grade(tiny, tiny.modules[0], [], lambda _: None, allow_unjailed=True)

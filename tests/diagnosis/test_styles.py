"""A mistake gets the same name in every style, and an unknown mistake gets none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.course.course import Course
from grader.grading.grade import full_suite
from grader.submission.submission import Submission
from tests.diagnosis.graded import GRADED, MODULES, appended, graded, names
from tests.quick import sampled

# One of so many is graded. The names come from the same fingerprints in all modules; 12 trains models.
EVERY_STYLE = {name: 3 for name in MODULES[2:]}


def some_of(submissions: dict[str, Submission], name: str) -> list[Submission]:
    """Return the submissions of the first modules, and some of each later one."""
    return [submissions[title] for title in sampled(list(submissions), EVERY_STYLE.get(name, 1))]


@pytest.mark.parametrize("name", GRADED)
def test_one_mistake_gets_the_same_name_in_every_style(course: Course, name: str) -> None:
    module = course.module(name)
    suite = replace(full_suite(course, module), measured=False)
    reports = graded(suite, some_of(appended(course, module, "styles"), name))
    assert {one.submission: names(one) for one in reports} == {
        one.submission: [one.submission.split()[0]] for one in reports
    }


@pytest.mark.parametrize("name", GRADED)
def test_an_unknown_mistake_gets_no_name(course: Course, name: str) -> None:
    module = course.module(name)
    suite = replace(full_suite(course, module), measured=False)
    reports = graded(suite, some_of(appended(course, module, "unknown"), name))
    untrue = {one.submission: {*names(one)} - {*one.submission.split("_and_")} for one in reports}  # two at once
    assert {title: found for title, found in untrue.items() if found} == {}
    assert [one.submission for one in reports if all(check.outcome == "passed" for check in one.checks)] == []

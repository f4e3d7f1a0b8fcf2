"""Every known wrong way gets its own name, and right solutions get none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import Course
from grader.diagnosis.diagnose import Diagnoser
from grader.grading.grade import full_suite
from tests.cases import cases
from tests.diagnosis.graded import GRADED, graded, names, some_of
from tests.diagnosis.naming import described

MOST_LINES, WIDTH = 15, 80
STYLES, BUGS, UNKNOWN = 3, 8, 30  # at least, in all modules together


@pytest.mark.parametrize("name", GRADED)
def test_every_misconception_gets_its_own_name(course: Course, name: str) -> None:
    module = course.module(name)
    ways = some_of(read_misconceptions(course, module), name)
    suite = full_suite(course, module)
    quick = [as_submission(course, module, way) for way in ways if not way.costly]
    costly = [as_submission(course, module, way) for way in ways if way.costly]
    reports = [*graded(replace(suite, measured=False), quick), *graded(suite, costly)]
    assert {report.submission: names(report) for report in reports} == {way.name: [way.name] for way in ways}
    for report in reports:
        for one in report.diagnoses:
            lines = one.message.splitlines()
            assert 1 < len(lines) <= MOST_LINES, one.message
            assert max(map(len, lines)) <= WIDTH, one.message


@pytest.mark.parametrize("name", GRADED)
def test_right_solutions_have_no_findings(course: Course, name: str) -> None:
    module = course.module(name)
    prints = Diagnoser(module).prints
    assert prints is not None
    texts = {case.name: case.code for case in cases("right", name)}
    assert texts
    assert {title: found for title, found in described(course, module, prints, texts) if found} == {}


def test_there_are_enough_styles_and_unknown_mistakes(course: Course) -> None:
    bugs: dict[tuple[str, str], set[str]] = {}
    for case in cases("styles"):
        bug, style = case.name.split()
        bugs.setdefault((case.module, bug), set()).add(style)
    assert sum(len(styles) >= STYLES for styles in bugs.values()) >= BUGS
    assert len(cases("unknown")) >= UNKNOWN
    assert [module.name for module in course.modules if not Path(module.probes).is_file()] == []

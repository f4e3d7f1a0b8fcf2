"""Right solutions in very different styles, the files of tests/data/right/NN_slug/: every one gets full marks."""

from __future__ import annotations

import pytest

from grader.course.course import Course
from tests.acceptance.graded_files import graded
from tests.conftest import DATA, LIMITS

FOLDERS = sorted((DATA / "right").iterdir())
FEWEST = 6


@pytest.mark.parametrize("module_name", [folder.name for folder in FOLDERS])
def test_right_solutions_get_full_marks(course: Course, module_name: str) -> None:
    module = course.module(module_name)
    paths = sorted((DATA / "right" / module_name).glob("*.py"))
    reports = graded(course, module, paths, LIMITS)
    lost = {
        report.submission: [(check.name, check.message) for check in report.asked if check.outcome != "passed"]
        for report in reports
        if (report.status, report.score) != ("graded", module.points)
    }
    assert lost == {}
    assert len(reports) == len(paths) >= FEWEST


def test_every_module_has_its_right_solutions(course: Course) -> None:
    assert [folder.name for folder in FOLDERS] == [module.name for module in course.modules]

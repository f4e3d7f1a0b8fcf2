"""Right solutions in very different styles, the files of right/NN_slug/: every one gets full marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.conftest import DATA, LIMITS

VARIANTS = sorted((DATA / "right").glob("*/*.py"))
FEWEST = 6


def graded(course: Course, module: Module, path: Path) -> Report:
    """Grade a file as the work of a student whose earlier modules are right, too."""
    earlier = [one for one in course.modules if one.order < module.order]
    texts = {one.slug: course.solution(one).read_text() for one in earlier} | {module.slug: path.read_text()}
    files = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in texts.items()}
    reports: list[Report] = []
    submission = Submission(path.stem, module.name, f"{module.slug}.py", files)
    grade(course, module, [submission], reports.append, LIMITS, allow_unjailed=True)
    (report,) = reports
    return report


@pytest.mark.parametrize("path", VARIANTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_right_solution_gets_full_marks(course: Course, path: Path) -> None:
    module = course.module(path.parent.name)
    report = graded(course, module, path)
    assert [(check.name, check.message) for check in report.asked if check.outcome != "passed"] == []
    assert (report.status, report.score) == ("graded", module.points)


def test_every_module_has_its_right_solutions(course: Course) -> None:
    for module in course.modules:
        assert sum(path.parent.name == module.name for path in VARIANTS) >= FEWEST, module.name

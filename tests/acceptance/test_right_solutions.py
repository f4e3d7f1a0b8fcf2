"""Right solutions in very different styles, the files of tests/data/right/NN_slug/: every one gets full marks."""

from __future__ import annotations

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.conftest import DATA, LIMITS

FOLDERS = sorted((DATA / "right").iterdir())
FEWEST = 6


@pytest.mark.parametrize("module_name", [folder.name for folder in FOLDERS])
def test_right_solutions_get_full_marks(course: Course, module_name: str) -> None:
    module = course.module(module_name)
    earlier = {one.slug: course.solution(one).read_text() for one in course.modules if one.order < module.order}
    submissions = []
    for path in sorted((DATA / "right" / module_name).glob("*.py")):
        texts = earlier | {module.slug: path.read_text()}
        files = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in texts.items()}
        submissions.append(Submission(path.stem, module.name, f"{module.slug}.py", files))
    reports: list[Report] = []
    grade(course, module, submissions, reports.append, LIMITS, allow_unjailed=True)
    lost = {
        report.submission: [(check.name, check.message) for check in report.asked if check.outcome != "passed"]
        for report in reports
        if (report.status, report.score) != ("graded", module.points)
    }
    assert lost == {}
    assert len(reports) == len(submissions) >= FEWEST


def test_every_module_has_its_right_solutions(course: Course) -> None:
    assert [folder.name for folder in FOLDERS] == [module.name for module in course.modules]

"""Right submissions as students write them, the files of tests/data/honest/NN_slug/: full marks and no review.

They are graded under another salt than the course's, which test_right_solutions.py has: right code passes under any.
"""

from __future__ import annotations

from collections import Counter

import pytest

from grader.core.report import Report
from grader.course.course import Course
from tests.acceptance.graded_cases import grade_family, lost_marks
from tests.acceptance.salts import fixed_salts
from tests.cases import cases

GROUPS = Counter(case.group for case in cases("honest"))
FEWEST = 10  # of each module
SALT = fixed_salts(1)[0]
QUICK = "01_softmax"
MODULES = [name if name == QUICK else pytest.param(name, marks=pytest.mark.exhaustive) for name in GROUPS]


def open_questions(report: Report) -> set[str]:
    """Return what an instructor would have to decide."""
    return {cost.message for cost in report.costs if cost.verdict == "inconclusive"}


@pytest.mark.parametrize("module_name", MODULES)
def test_an_honest_submission_gets_full_marks_without_review(course: Course, module_name: str) -> None:
    reports = grade_family(course, "honest", module_name, salt=SALT)
    assert lost_marks(reports) == {}
    assert [(one.submission, open_questions(one)) for one in reports if one.needs_review] == []


def test_every_module_has_its_honest_submissions(course: Course) -> None:
    assert [*GROUPS] == [module.name for module in course.modules]
    assert min(GROUPS.values()) >= FEWEST

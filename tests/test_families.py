"""docs/testing.md says how many cases of each family the test commands run."""

from __future__ import annotations

from grader.course.course import Course
from tests.conftest import ROOT
from tests.families import families, table


def test_the_table_of_the_documentation_is_true(course: Course) -> None:
    assert table(course) in (ROOT / "docs" / "testing.md").read_text(), "python -m tests.families prints it"


def test_every_family_runs_and_no_run_has_more_than_all(course: Course) -> None:
    for family in families(course):
        assert 0 <= family.quick <= family.all <= family.cases, family.name
        assert family.all, family.name

"""docs/testing.md says how many cases of each family the test commands run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.course.course import Course
from tests.conftest import ROOT
from tests.families import Family, families, table


@pytest.fixture(scope="module")
def found(course: Course) -> Sequence[Family]:
    """The families of this course."""
    return families(course)


def test_the_table_of_the_documentation_is_true(found: Sequence[Family]) -> None:
    assert table(found) in (ROOT / "docs" / "testing.md").read_text(), "python -m tests.families prints it"


def test_every_family_runs_and_no_run_has_more_than_all(found: Sequence[Family]) -> None:
    for family in found:
        assert 0 <= family.quick <= family.all <= family.cases, family.name
        assert family.all, family.name

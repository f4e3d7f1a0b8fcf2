"""Right solutions in very different styles, the files of tests/data/right/NN_slug/: full marks, no review."""

from __future__ import annotations

from collections import Counter

import pytest

from grader.course.course import Course
from grader.course.notebook import make_notebook, read_cells
from tests.acceptance.graded_cases import grade_cases, grade_family, lost_marks
from tests.cases import Case, cases
from tests.quick import QUICK, quick_or_exhaustive, sampled

GROUPS = Counter(case.group for case in cases("right"))
FEWEST = 6  # of each module
MODULES = [*GROUPS]


@pytest.mark.parametrize("module_name", quick_or_exhaustive(MODULES))
def test_right_solutions_get_full_marks(course: Course, module_name: str) -> None:
    reports = grade_family(course, "right", module_name)
    assert lost_marks(reports) == {}
    assert [one.submission for one in reports if one.needs_review] == []


def test_every_module_has_its_right_solutions(course: Course) -> None:
    assert [*GROUPS] == [module.name for module in course.modules]
    assert min(GROUPS.values()) >= FEWEST


@pytest.mark.parametrize("name", quick_or_exhaustive([QUICK[0], *sampled(MODULES[1:], 2)]))
def test_the_solution_as_a_notebook_has_full_marks(course: Course, name: str) -> None:
    """A notebook runs the cells that try the functions, with meters, too."""
    module = course.module(name)
    notebook = make_notebook(course.solution(module).read_text(), module.slug)
    case = Case(name, "the solution", "", "", read_cells(notebook.encode()), notebook=True)
    assert lost_marks(grade_cases(course, module, [case])) == {}

"""Right solutions in very different styles, the files of tests/data/right/NN_slug/: full marks, no review."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.course import Course
from grader.course.notebook import make_notebook
from tests.acceptance.graded_files import grade_files, grade_folder, lost_marks
from tests.conftest import DATA
from tests.quick import QUICK, quick_or_exhaustive, sampled

FOLDERS = sorted((DATA / "right").iterdir())
FEWEST = 6  # in each folder
MODULES = [folder.name for folder in FOLDERS]


@pytest.mark.parametrize("module_name", quick_or_exhaustive(MODULES))
def test_right_solutions_get_full_marks(course: Course, module_name: str) -> None:
    reports = grade_folder(course, DATA / "right" / module_name)
    assert lost_marks(reports) == {}
    assert [one.submission for one in reports if one.needs_review] == []


def test_every_module_has_its_right_solutions(course: Course) -> None:
    assert [module.name for module in course.modules] == MODULES
    assert all(len(list(folder.glob("*.py"))) >= FEWEST for folder in FOLDERS)


@pytest.mark.parametrize("name", quick_or_exhaustive([QUICK[0], *sampled(MODULES[1:], 2)]))
def test_the_solution_as_a_notebook_has_full_marks(course: Course, name: str, tmp_path: Path) -> None:
    """A notebook runs the cells that try the functions, with meters, too."""
    module = course.module(name)
    notebook = tmp_path / f"{module.slug}.ipynb"
    notebook.write_text(make_notebook(course.solution(module).read_text(), module.slug))
    assert lost_marks(grade_files(course, module, [notebook])) == {}

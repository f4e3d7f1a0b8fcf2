"""Right solutions in very different styles, the files of tests/data/right/NN_slug/: every one gets full marks."""

from __future__ import annotations

import pytest

from grader.course.course import Course
from tests.acceptance.graded_files import grade_folder, lost_marks
from tests.conftest import DATA

FOLDERS = sorted((DATA / "right").iterdir())
FEWEST = 6
QUICK = ("01_softmax", "04_masks")
MODULES = [
    pytest.param(folder.name, marks=() if folder.name in QUICK else pytest.mark.exhaustive) for folder in FOLDERS
]


@pytest.mark.parametrize("module_name", MODULES)
def test_right_solutions_get_full_marks(course: Course, module_name: str) -> None:
    reports = grade_folder(course, DATA / "right" / module_name)
    assert lost_marks(reports) == {}
    assert len(reports) >= FEWEST


def test_every_module_has_its_right_solutions(course: Course) -> None:
    assert [folder.name for folder in FOLDERS] == [module.name for module in course.modules]

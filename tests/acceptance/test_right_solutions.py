"""Right solutions in very different styles, the files of tests/data/right/NN_slug/: every one gets full marks."""

from __future__ import annotations

import pytest

from grader.course.course import Course
from tests.acceptance.graded_files import grade_folder, lost_marks
from tests.conftest import DATA, LIMITS

FOLDERS = sorted((DATA / "right").iterdir())
FEWEST = 6
LONG = ("06_multi_head_attention", "07_gpu_path", "11_efficient_attention", "12_transformer")
MODULES = [pytest.param(folder.name, marks=pytest.mark.exhaustive if folder.name in LONG else ()) for folder in FOLDERS]


@pytest.mark.parametrize("module_name", MODULES)
def test_right_solutions_get_full_marks(course: Course, module_name: str) -> None:
    reports = grade_folder(course, DATA / "right" / module_name, LIMITS)
    assert lost_marks(reports) == {}
    assert len(reports) >= FEWEST


def test_every_module_has_its_right_solutions(course: Course) -> None:
    assert [folder.name for folder in FOLDERS] == [module.name for module in course.modules]

"""The cases of the comparison are what they say: each is a misconception of ours, and changes a right solution."""

from __future__ import annotations

import ast
import re

import pytest

from grader.authoring.misconceptions import read_misconceptions
from grader.course.course import Course
from tests.bench.verdicts.task import Slip, Task
from tests.bench.verdicts.torch_judge_tasks import TASKS
from tests.conftest import ROOT


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_wrong_way_is_one_of_ours_and_changes_the_solution(course: Course, task: Task) -> None:
    known = {way.name for way in read_misconceptions(course, course.module(task.module))}
    right = next(iter(task.right.values()))
    for slip in task.slips:
        assert slip.misconception in known
        assert ast.dump(ast.parse(task.wrong(slip))) != ast.dump(ast.parse(right))


def test_a_change_that_fits_nowhere_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no 'missing'"):
        TASKS[0].wrong(Slip("no_max_subtraction", "missing", ""))


def test_the_page_has_every_case() -> None:
    rows = re.findall(r"^\| `(\w+)`, `(\w+)` \| `(\w+)` \|", (ROOT / "docs" / "verdicts.md").read_text(), re.MULTILINE)
    assert rows == [(task.name, task.module, slip.misconception) for task in TASKS for slip in task.slips]

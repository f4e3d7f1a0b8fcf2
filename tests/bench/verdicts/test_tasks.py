"""The cases of the comparison are what they say: each is a misconception of ours, and changes a right solution."""

from __future__ import annotations

import ast

import pytest

from grader.course.course import Course
from grader.course.golden import read_golden
from tests.bench.verdicts.task import Slip, Task
from tests.bench.verdicts.torch_judge_tasks import TASKS


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_wrong_way_is_one_of_ours_and_changes_the_solution(course: Course, task: Task) -> None:
    known = read_golden(course.module(task.module)).misconceptions
    right = next(iter(task.right.values()))
    for slip in task.slips:
        assert slip.misconception in known
        assert ast.dump(ast.parse(task.wrong(slip))) != ast.dump(ast.parse(right))


def test_a_change_that_fits_nowhere_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no 'missing'"):
        TASKS[0].wrong(Slip("no_max_subtraction", "missing", ""))

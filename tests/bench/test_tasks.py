"""The cases of the comparison are what they say: each is a misconception of ours, and changes a right solution."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from docs.bench.peers.environment import NoPeersError
from docs.bench.verdicts.cs336 import NAME, TESTS, cs336
from docs.bench.verdicts.cs336_tasks import TASKS as CS336_TASKS
from docs.bench.verdicts.task import Slip, Task
from docs.bench.verdicts.torch_judge import TORCH_JUDGE
from grader.course.course import Course
from grader.course.golden import read_golden
from tests.conftest import ROOT

TASKS = {TORCH_JUDGE.name: TORCH_JUDGE.tasks, NAME: CS336_TASKS}


@pytest.mark.parametrize("task", [one for tasks in TASKS.values() for one in tasks], ids=lambda task: task.name)
def test_every_wrong_way_is_one_of_ours_and_changes_the_solution(course: Course, task: Task) -> None:
    known = read_golden(course.module(task.module)).misconceptions
    right = next(iter(task.right.values()))
    for slip in task.slips:
        assert slip.misconception in known
        assert ast.dump(ast.parse(task.wrong(slip))) != ast.dump(ast.parse(right))


def test_a_change_that_fits_nowhere_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no 'missing'"):
        CS336_TASKS[0].wrong(Slip("no_max_subtraction", "missing", ""))


def test_every_task_of_the_checkout_names_its_tests() -> None:
    assert [task.name for task in CS336_TASKS if not TESTS[task.name]] == []


def test_a_folder_that_is_no_checkout_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoPeersError, match=r"no tests/adapters\.py"):
        cs336(tmp_path)


@pytest.mark.parametrize("name", TASKS)
def test_the_page_has_every_case_and_its_counts_are_those_of_its_rows(name: str) -> None:
    (text,) = re.findall(rf"^## {name} .*?(?=^## |\Z)", (ROOT / "docs" / "verdicts.md").read_text(), re.M | re.S)
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    cases = [
        [f"| `{task.name}`, `{task.module}`", f"`{one.misconception}`"] for task in TASKS[name] for one in task.slips
    ]
    assert [row[:2] for row in rows] == cases
    theirs, ours = (sum(row[place].startswith("accepted") for row in rows) for place in (2, 3))
    assert f"| wrong ways | {theirs} of {len(rows)} | {ours} of {len(rows)} |" in text
    assert ours == 0
    right = sum(len(task.right) for task in TASKS[name])
    assert re.search(rf"^\| right solutions \| \d+ of {right} \| (\d+) of \1 \|$", text, re.M)  # we accept all of ours

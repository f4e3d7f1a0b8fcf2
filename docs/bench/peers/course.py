"""The assignment as an AttnLab course, with the class as its submissions."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from docs.bench.peers.assignment import FOLDER, IMPORTS, QUESTIONS, Assignment, Check, read_assignment
from docs.bench.peers.pupils import Pupil
from grader.authoring.build import build_module
from grader.course.course import Course, read_course
from grader.course.notebook import make_notebook

NAME, SLUG = "01_scores", "scores"
# The probes and hints of the same three functions: the time of a diagnosis counts.
LIKE = Path(__file__).parent.parent.parent.parent / "modules" / "01_softmax"
MODULE = """\
title = "Three functions on scores"
order = 1
minutes = 60
requires = []
backend = "numpy"
points = {points}
"""
CONTRACT = """
[complexity.{function}]
args = {args}
sizes = {{m = [2, 1], n = [2, 1]}}
large = [{{m = 3, n = 300}}, {{m = 200, n = 3}}, {{m = 40, n = 50}}]
points = 0.75
steps = "1"
work = "m*n"
mem = "m*n"
"""
ARGUMENTS = {"softmax_with_temperature": '["array m n", "value 2.5"]'}
WORDS = "array_like, assert_close, assert_raises, assert_rows_sum_to_one, worth"
AFTER = """\
def after(function, *arguments):
    call = function.call(*arguments)
    return call.value, call.args[0]
"""
CHECK = """\
{source}


@worth(1, "{property}", target="{question}")
def test_{name}(student):
    {name}(student.{question})
"""


def make_course(root: Path, *, contracts: bool) -> Course:
    """Write the course, with or without contracts, and build it as `attn dev build` does."""
    assignment = read_assignment()
    for path, text in _files(assignment, contracts=contracts):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for name in ("probes.py", "hints.toml"):
        shutil.copy(LIKE / name, root / "modules" / NAME)
    course = read_course(root)
    build_module(course, course.modules[0])
    return course


def hand_in(folder: Path, pupils: Iterable[Pupil]) -> Path:
    """Write one notebook for each pupil, for `attn grade`; return the folder."""
    for pupil in pupils:
        file = folder / pupil.name / NAME / f"{SLUG}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(make_notebook(script_of(pupil), SLUG))
    return folder


def script_of(pupil: Pupil) -> str:
    """Return the percent script that a pupil's notebook is made from."""
    return "\n\n\n".join(f"# %%\n{cell}" for cell in (IMPORTS, *pupil.answers.values())) + "\n"


def _files(assignment: Assignment, *, contracts: bool) -> Iterator[tuple[str, str]]:
    costs = [CONTRACT.format(function=name, args=ARGUMENTS.get(name, '["array m n"]')) for name in QUESTIONS]
    points = len(assignment.checks) + 0.75 * len(costs) * contracts
    hidden, visible = ([check for check in assignment.checks if check.hidden == truth] for truth in (True, False))
    wrong = (FOLDER / "wrong.py").read_text()
    yield f"modules/{NAME}/module.toml", MODULE.format(points=points) + "".join(costs) * contracts
    yield f"modules/{NAME}/README.md", "# 01 · Three functions on scores\n"
    yield f"modules/{NAME}/checks.py", _suite(assignment, visible)
    yield f"tests/hidden/test_{NAME}.py", _suite(assignment, hidden)
    yield f"solutions/{NAME}/{SLUG}.py", assignment.solution
    yield f"solutions/{NAME}/misconceptions.py", wrong if contracts else _without_costly(wrong)


def _suite(assignment: Assignment, checks: list[Check]) -> str:
    tests = "\n\n".join(CHECK.format(**vars(check)) for check in checks)
    head = f"{IMPORTS}\n\nfrom grader.testing import {WORDS}\n"
    after = AFTER if "after(" in tests else ""
    return "\n\n".join(part for part in (head, after, assignment.behind(tests), tests) if part)


def _without_costly(wrong: str) -> str:
    """Remove the wrong ways that only a contract can catch."""
    cells = wrong.split("\n# %% ")
    return "\n# %% ".join(cell for cell in cells if "COSTLY = True" not in cell)

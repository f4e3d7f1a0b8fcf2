"""The modules as notebooks, run from top to bottom in a real Jupyter kernel."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader.course.course import Course, read_course
from grader.course.module import Module
from grader.course.notebook import make_notebook
from grader.course.stub import make_stub
from tests.conftest import ROOT
from tests.quick import QUICK, quick_or_exhaustive, sampled

LATER = [module.name for module in read_course(ROOT).modules if module.name != QUICK[0]]
REGION = re.compile(r"^ +### BEGIN SOLUTION\n.*?^ +### END SOLUTION\n", re.MULTILINE | re.DOTALL)
WORK = re.compile(r"^ +raise NotImplementedError\n", re.MULTILINE)
TRIES = 'if __name__ == "__main__":\n'


def executed(script: str, module: Module, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run a script as a notebook, and yield the source of each code cell, its error's name and its error's message."""
    for path in module.fallbacks.values():  # as in the folder of the module
        shutil.copy(path, folder)
    book = nbformat.reads(make_notebook(script, module.slug), as_version=4)
    client = NotebookClient(book, timeout=600, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            error = next((output for output in cell.outputs if output.output_type == "error"), None)
            yield cell.source, error.ename if error else "", error.evalue if error else ""


def partly_done(solution: str, done: int) -> str:
    """Return the file of a student who has written the first functions, and nothing after them."""
    stub = make_stub(solution)
    for region in REGION.findall(solution)[:done]:
        stub = region.join(WORK.split(stub, maxsplit=1))
    return stub


@pytest.mark.parametrize("name", quick_or_exhaustive([QUICK[0], *sampled(LATER, 2)]))
def test_the_notebook_fails_only_where_work_is_left(course: Course, name: str, tmp_path: Path) -> None:
    module = course.module(name)
    solution = course.solution(module).read_text()
    failing: list[list[str]] = []
    count = len(REGION.findall(solution))
    every = 1 if module.backend == "numpy" else 3  # PyTorch takes seconds to start
    for done in (*sampled(range(count), every, lambda number: f"{name} {number}"), count):
        cells = list(executed(partly_done(solution, done), module, tmp_path))
        failed = [source for source, error, _ in cells if error]
        assert all(TRIES in source for source in failed), "only a cell that tries something may fail"
        assert {error for _, error, _ in cells if error} <= {"NotImplementedError"}
        assert sum(TRIES in source for source, _, _ in cells) >= count
        failing.append(failed)
    assert failing[-1] == [], "the solution runs from top to bottom"
    for more, fewer in itertools.pairwise(failing):
        assert set(fewer) < set(more), "a function more that is done, and no cell more that runs"

"""What an nbgrader notebook gives its students: the text of its locked cells, whatever they make of it."""

from __future__ import annotations

from functools import lru_cache

from grader.course.golden import read_golden
from grader.course.module import Module
from grader.submission.assignment_cells import given_code

_MARK = b'"grade_id"'


def is_assignment(notebook: bytes) -> bool:
    """Whether a notebook may have come from nbgrader; to ask costs next to nothing."""
    return _MARK in notebook


def given_to_students(module: Module) -> dict[str, str]:
    """Return the locked cells of code of a module's notebook by their ids; those that only test are empty."""
    return _given(module, module.golden.stat().st_mtime_ns if module.golden.is_file() else 0)


@lru_cache(maxsize=32)
def _given(module: Module, changed: int) -> dict[str, str]:
    """Return them as of some state of the golden file: a class has hundreds of notebooks of one module."""
    del changed
    golden = read_golden(module)
    return given_code(golden.stub, golden.api)

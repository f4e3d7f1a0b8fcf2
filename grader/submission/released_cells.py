"""The original text of the locked cells in a released nbgrader notebook."""

from __future__ import annotations

from functools import lru_cache

from grader.course.golden import read_golden
from grader.course.module import Module
from grader.submission.assignment_cells import given_code

_MARK = b'"grade_id"'


def is_assignment(notebook: bytes) -> bool:
    """Whether a notebook may come from nbgrader. This check is cheap."""
    return _MARK in notebook


def given_to_students(module: Module) -> dict[str, str]:
    """Return the locked code cells of a module's notebook, by id. Test cells are empty."""
    return _locked_cells(module, module.golden.stat().st_mtime_ns if module.golden.is_file() else 0)


@lru_cache(maxsize=32)
def _locked_cells(module: Module, golden_mtime_ns: int) -> dict[str, str]:
    """Return the cells for one version of the golden file. Cached: a class has hundreds of notebooks of one module."""
    del golden_mtime_ns
    golden = read_golden(module)
    return given_code(golden.stub, golden.api)

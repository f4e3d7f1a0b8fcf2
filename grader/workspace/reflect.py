"""The answers under Reflect in a student's own file, read without running it."""

from __future__ import annotations

import ast

from grader.course.golden import read_golden
from grader.course.module import Module
from grader.course.notebook import NotebookError, read_cells
from grader.submission.own_file import own_file


def unanswered(module: Module) -> tuple[str, ...]:
    """Return the questions under Reflect without an answer: their constant is missing or still None."""
    answered = {name for cell in _cells(module) for name in _answered(cell)}
    return tuple(name for name in read_golden(module).api.constants if name not in answered)


def _cells(module: Module) -> tuple[str, ...]:
    path = own_file(module)
    try:
        return read_cells(path.read_bytes()) if path == module.notebook else (path.read_text(encoding="utf-8"),)
    except (OSError, UnicodeDecodeError, NotebookError):
        return ()


def _answered(cell: str) -> list[str]:
    """Return the names that a cell sets to something else than None at its top level."""
    try:
        body = ast.parse(cell).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        is_none = value is None or (isinstance(value, ast.Constant) and value.value in (None, ...))
        found += [target.id for target in targets if isinstance(target, ast.Name) and not is_none]
    return found

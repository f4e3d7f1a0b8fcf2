"""The questions under Reflect that a student has not answered yet."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from grader.core.syntax import parse
from grader.course.api import read_api
from grader.course.golden import read_golden, read_stub
from grader.course.module import Module
from grader.course.notebook import NotebookError, read_cells
from grader.submission.own_file import own_file

if TYPE_CHECKING:
    from grader.core.report import Report

_NUMBER = "this is text. Write a number without a unit"


def questions_of(module: Module) -> tuple[str, ...]:
    """Return the names of a module's questions."""
    return read_api(read_stub(module)).constants


def unanswered_in(module: Module) -> tuple[str, ...]:
    """Return the questions that the student's own file leaves open."""
    return unanswered(_cells(module), questions_of(module))


def not_right(module: Module, report: Report, unanswered: Sequence[str]) -> dict[str, str]:
    """Return the questions whose answer is not right, with a word about why; never with the answer."""
    from grader.course.answers import is_right  # `attn status` does not need it

    golden = read_golden(module)
    told = {one.function: golden.misconceptions.get(one.misconception or "") for one in report.diagnoses}
    found: dict[str, str] = {}
    for name, value in report.answers:
        if name in unanswered or is_right(golden.answers, module.name, name, value):
            continue
        likely = told.get(name)
        found[name] = str(likely["likely"]) if likely else _NUMBER if isinstance(value, str) else "not right yet"
    return found


def _cells(module: Module) -> tuple[str, ...]:
    path = own_file(module)
    try:
        return read_cells(path.read_bytes()) if path == module.notebook else (path.read_text(encoding="utf-8"),)
    except (OSError, UnicodeDecodeError, NotebookError):
        return ()


def unanswered(cells: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the constants that are missing, or still None, in the code of a file. Nothing is run."""
    answered: dict[str, bool] = {}
    for cell in cells:
        try:
            body = parse(cell).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # a cell with notebook commands; an unfinished one fails the checks
        for node in body:
            for name, value in _assigned(node):
                answered[name] = not (isinstance(value, ast.Constant) and value.value in (None, ...))
    return tuple(name for name in names if not answered.get(name))


def _assigned(node: ast.stmt) -> Iterable[tuple[str, ast.expr | None]]:
    """Yield the names that a statement sets, with the value if it is plain."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        yield part.id, value if part is target else None
        case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            pass  # a name inside a function is not an answer
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case _:  # inside an if, a loop or a with: it is set by a computation
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id, None

"""The questions under Reflect that a student has not answered yet."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from grader.course.course import Course
from grader.course.module import Module
from grader.submission.submission import own_submission


def unanswered_in(course: Course, module: Module) -> tuple[str, ...]:
    """Return the questions that the student's own file leaves open."""
    source = own_submission(course, module).sources.get(module.slug)
    return unanswered(source.cells if source else (), course.api(module).constants)


def unanswered(cells: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the constants that are missing, or still None, in the code of a file. Nothing is run."""
    answered: dict[str, bool] = {}
    for cell in cells:
        try:
            body = ast.parse(cell).body
        except (SyntaxError, ValueError):
            continue  # a cell with notebook commands; an unfinished one fails the checks
        for node in body:
            for name, value in _assigned(node):
                answered[name] = not (isinstance(value, ast.Constant) and value.value is None)
    return tuple(name for name in names if not answered.get(name))


def _assigned(node: ast.stmt) -> Iterable[tuple[str, ast.expr | None]]:
    """Yield the names that a statement sets, with the value if it is plain."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        yield part.id, value if part is target else None
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case _:  # inside an if, a loop or a with: it is set by a computation
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id, None

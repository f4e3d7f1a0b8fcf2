"""The reference code of a module, as students may read it after they have completed the module.

A full course has the solutions. A bundle has none, until an instructor publishes one: then it is in `published/`.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from grader.core.syntax import parse
from grader.course.course import Course
from grader.course.module import FOLDER, Module, read_text
from grader.course.stub import BEGIN, END

PUBLISHED = "published"
_FILE = re.compile(r"(?P<module>.+)\.txt")


def published_name(module: Module) -> str:
    """Return the path of a published reference below the course. It is no .py file: it must not look like work."""
    return f"{PUBLISHED}/{module.name}.txt"


def is_published_name(name: str) -> bool:
    """Whether a path below a bundle is that of a published reference."""
    folder, _, file = name.partition("/")
    matched = _FILE.fullmatch(file)
    return folder == PUBLISHED and matched is not None and FOLDER.fullmatch(matched["module"]) is not None


def read_reference(course: Course, module: Module) -> str | None:
    """Return the reference of a module; None if it is not published."""
    path: Path = course.root / published_name(module)
    if path.is_file():
        return read_text(path)
    return None if course.is_bundle else reference_code(read_text(course.solution(module)))


def reference_code(solution: str) -> str:
    """Return the code of a solution with its comments, without the lesson around it and without docstrings."""
    lines = solution.splitlines()
    left_out = {
        number
        for node in ast.walk(parse(solution))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and ast.get_docstring(node) is not None
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    left_out |= {number for number, line in enumerate(lines, 1) if line.strip() in (BEGIN, END)}
    parts: list[str] = []
    after_large = False
    for node in parse(solution).body:
        if isinstance(node, ast.Expr | ast.If | ast.Assert):  # the module's docstring, and code that tries things out
            continue
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
            continue  # an answer that the stub leaves open; the solution gives it below
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        kept = [number for number in range(first, (node.end_lineno or 0) + 1) if number not in left_out]
        large = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        parts.append(
            ("\n\n" if parts and (large or after_large) else "")
            + "\n".join(lines[number - 1].rstrip() for number in kept)
        )
        after_large = large
    return re.sub(r"(?<=:)\n\n+", "\n", "\n".join(parts)) + "\n"

"""Misconceptions: the known wrong ways to solve a module, each a few lines added to its solution.

`misconceptions.py` is a percent-format file that is read as data. Each cell `# %% name` sets LIKELY (the student's
mistake) and HINT (what to try), and redefines the functions or constants that are wrong. VALUES_RIGHT = True marks a
wrong way with right results, such as one that modifies its input. COSTLY = True marks one where only the cost is wrong.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from grader.course.course import Course
from grader.course.module import CourseError, Module, read_text
from grader.course.percent import split_cells
from grader.submission.submission import Source, Submission

_CELL = re.compile(r"^# ?%% *(?P<name>.*?) *$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FIELDS = {"LIKELY": str, "HINT": str, "VALUES_RIGHT": bool, "COSTLY": bool}


@dataclass(frozen=True)
class Misconception:
    """One known wrong way."""

    name: str
    likely: str
    hint: str
    values_right: bool
    costly: bool
    code: str
    defines: tuple[str, ...]


def read_misconceptions(course: Course, module: Module) -> tuple[Misconception, ...]:
    """Read a module's misconceptions; CourseError says what to add if a cell is not complete."""
    path = course.solution(module).with_name("misconceptions.py")
    if not path.is_file():
        raise CourseError(path, "", "is missing", "Every module lists its known wrong ways")
    found: dict[str, Misconception] = {}
    for mark, cell in split_cells(_CELL, read_text(path))[1]:
        name = mark["name"]
        if not _NAME.fullmatch(name):
            raise CourseError(path, f"# %% {name}", "is not a valid name", "Use lowercase letters, as in axis_zero")
        if name in found:
            raise CourseError(path, name, "appears twice", "Rename one of the two")
        try:
            found[name] = _read_cell(name, cell)
        except (SyntaxError, ValueError) as error:
            raise CourseError(path, name, str(error), 'Write LIKELY = "...", HINT = "..." and the code') from None
    return tuple(found.values())


def as_submission(course: Course, module: Module, misconception: Misconception) -> Submission:
    """Return the submission of a student with this misconception: the solution with the wrong code added."""
    solution = read_text(course.solution(module))
    source = Source(f"{module.slug}.py", (f"{solution}\n\n{misconception.code}",), notebook=False)
    return Submission(misconception.name, module.name, source.file, {module.slug: source})


def _read_cell(name: str, cell: str) -> Misconception:
    fields: dict[str, object] = {}
    code: list[str] = []
    defines: list[str] = []
    for node in ast.parse(cell).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in _FIELDS and isinstance(node, ast.Assign):
            fields[target.id] = ast.literal_eval(node.value)
            continue
        code.append(ast.get_source_segment(cell, node) or "")
        defines += [target.id] if isinstance(target, ast.Name) else []
        defines += [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    for key, kind in _FIELDS.items():
        if kind is str and not fields.get(key):
            raise ValueError(f"{key} is missing")
        if type(fields.get(key, False if kind is bool else "")) is not kind:
            raise ValueError(f"{key} must be a {kind.__name__}")
    if not defines:
        raise ValueError("it redefines nothing")
    return Misconception(
        name=name,
        likely=str(fields["LIKELY"]),
        hint=str(fields["HINT"]),
        values_right=bool(fields.get("VALUES_RIGHT", False)),
        costly=bool(fields.get("COSTLY", False)),
        code="\n\n\n".join(code) + "\n",
        defines=tuple(defines),
    )

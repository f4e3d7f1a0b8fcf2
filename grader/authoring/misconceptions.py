"""Misconceptions: the known wrong ways to solve a module, each a few lines added to its solution.

`misconceptions.py` is a percent-format file that is read as data. Each cell `# %% name` sets LIKELY (the student's
mistake) and HINT (what to try), and redefines the functions or constants that are wrong. REPLACE = {"old line": "new
line"} does so with the lines of the solution that change; IN names the function where several have the line.
VALUES_RIGHT = True marks a wrong way with right results, such as one that modifies its input. COSTLY = True marks one
where only the cost is wrong, RAISES = True one that never returns a wrong result: the mistake is the exception.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from grader.authoring.patch import PatchError, patched_code
from grader.core.syntax import parse
from grader.course.course import Course
from grader.course.loading import earlier_solutions
from grader.course.module import CourseError, Module, read_text
from grader.course.notebook import split_cells
from grader.submission.submission import Source, Submission

_CELL = re.compile(r"^# ?%% *(?P<name>.*?) *$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
FIELDS = {"LIKELY": str, "HINT": str, "VALUES_RIGHT": bool, "COSTLY": bool, "RAISES": bool, "REPLACE": dict, "IN": str}
_REQUIRED = ("LIKELY", "HINT")


@dataclass(frozen=True)
class Misconception:
    """One known wrong way."""

    name: str
    likely: str
    hint: str
    values_right: bool
    costly: bool
    raises: bool
    code: str
    defines: tuple[str, ...]


def read_misconceptions(course: Course, module: Module) -> tuple[Misconception, ...]:
    """Read a module's misconceptions; CourseError says what to add if a cell is not complete."""
    path = course.solution(module).with_name("misconceptions.py")
    if not path.is_file():
        raise CourseError(path, "", "is missing", "Every module lists its known wrong ways")
    solution = read_text(course.solution(module))
    found: dict[str, Misconception] = {}
    for mark, cell in split_cells(_CELL, read_text(path))[1]:
        name = mark["name"]
        if not _NAME.fullmatch(name):
            raise CourseError(path, f"# %% {name}", "is not a valid name", "Use lowercase letters, as in axis_zero")
        if name in found:
            raise CourseError(path, name, "appears twice", "Rename one of the two")
        try:
            found[name] = _read_cell(name, cell, solution)
        except PatchError as error:
            raise CourseError(path, name, error.problem, error.fix) from None
        except (SyntaxError, ValueError) as error:
            raise CourseError(path, name, str(error), 'Write LIKELY = "...", HINT = "..." and the code') from None
    return tuple(found.values())


def as_submission(course: Course, module: Module, misconception: Misconception) -> Submission:
    """Return the submission of a student with this misconception: the solution with the wrong code added."""
    solution = read_text(course.solution(module))
    return authors_submission(course, module, misconception.name, f"{solution}\n\n{misconception.code}")


def _read_cell(name: str, cell: str, solution: str) -> Misconception:
    fields: dict[str, object] = {}
    nodes: list[ast.stmt] = []
    for node in parse(cell).body:
        key = _assigned(node)
        if key in FIELDS and isinstance(node, ast.Assign):
            fields[key] = ast.literal_eval(node.value)
        if key not in FIELDS or key == "REPLACE":
            nodes.append(node)
    _check_fields(fields)
    code: list[str] = []
    defines: list[str] = []
    for node in nodes:
        if _assigned(node) == "REPLACE":
            patched = patched_code(solution, _patch(fields["REPLACE"]), _text(fields.get("IN")))
            code += patched.values()
            defines += patched
            continue
        code.append(ast.get_source_segment(cell, node) or "")
        defines += [target] if (target := _assigned(node)) else []
        defines += [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    if not defines:
        raise ValueError("it redefines nothing")
    return Misconception(
        name=name,
        likely=str(fields["LIKELY"]),
        hint=str(fields["HINT"]),
        values_right=bool(fields.get("VALUES_RIGHT", False)),
        costly=bool(fields.get("COSTLY", False)),
        raises=bool(fields.get("RAISES", False)),
        code="\n\n\n".join(code) + "\n",
        defines=tuple(defines),
    )


def _assigned(node: ast.stmt) -> str:
    """Return the name that a statement assigns to; empty if it is none."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def _check_fields(fields: dict[str, object]) -> None:
    for key in _REQUIRED:
        if not fields.get(key):
            raise ValueError(f"{key} is missing")
    for key, value in fields.items():
        if type(value) is not FIELDS[key]:
            raise ValueError(f"{key} must be a {FIELDS[key].__name__}")
    if "IN" in fields and "REPLACE" not in fields:
        raise ValueError("IN is only for REPLACE")


def _patch(given: object) -> dict[str, str]:
    texts = [text for pair in given.items() for text in pair] if isinstance(given, dict) else []
    if not isinstance(given, dict) or not texts or not all(type(text) is str for text in texts):
        raise PatchError("REPLACE must map old lines to new ones", 'Write REPLACE = {"old line": "new line"}')
    return given


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None


def authors_submission(course: Course, module: Module, name: str, text: str) -> Submission:
    """Return a submission of this text, with the solutions of the earlier modules that it imports."""
    texts = {**earlier_solutions(course, module, text), module.slug: text}
    sources = {slug: Source(f"{slug}.py", (one,), notebook=False) for slug, one in texts.items()}
    return Submission(name, module.name, f"{module.slug}.py", sources)

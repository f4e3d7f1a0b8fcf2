"""The cells of a module's notebook as nbgrader knows them: what is locked, what is answered, what carries points."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grader.course.api import Api, read_api
from grader.course.notebook import script_cells
from grader.course.stub import BEGIN

SCHEMA = 3  # of nbgrader's metadata
Role = Literal["plain", "locked", "answer", "test", "open"]
# What nbgrader calls each: grade, solution, locked.
FLAGS: Mapping[Role, tuple[bool, bool, bool]] = {
    "locked": (False, False, True),
    "answer": (False, True, False),
    "test": (True, False, True),
    "open": (True, True, False),
}
SETUP = "setup"
OPEN_QUESTION = "open-question"
OPEN_ANSWER = "open-answer"


class CellsError(Exception):
    """A solution whose cells cannot be an assignment, and what to do about it."""


@dataclass(frozen=True)
class Cell:
    """One cell, what it is to nbgrader, and for answers and tests the target they belong to."""

    kind: str
    source: str
    role: Role = "plain"
    grade_id: str = ""
    points: float = 0.0
    target: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        """What nbgrader, and Jupyter, read of it."""
        if self.role == "plain":
            # A function that is not written yet stops neither "Run all" nor a checker on its way through.
            return {"tags": ["raises-exception"]} if self.kind == "code" else {}
        grade, solution, locked = FLAGS[self.role]
        found = {"schema_version": SCHEMA, "grade_id": self.grade_id, "cell_type": self.kind, "task": False}
        found |= {"grade": grade, "solution": solution, "locked": locked}
        tags = {"tags": ["raises-exception"]} if self.role == "test" else {}
        return {"nbgrader": found | ({"points": self.points} if grade else {})} | tags


def id_of_test(target: str) -> str:
    """Return the id of the cell that carries a target's points."""
    return f"test-{target}"


def id_of_answer(target: str) -> str:
    """Return the id of the cell in which a student writes a target, and where comments on it belong."""
    return f"answer-{target}"


def script_roles(script: str) -> list[Cell]:
    """Return the cells of a solution: imports are locked, and a cell with a solution region is an answer."""
    cells: list[Cell] = []
    imports = 0
    for kind, source in script_cells(script):
        if kind == "code" and _only_imports(source):
            imports += 1
            cells.append(Cell(kind, source, "locked", f"imports-{imports}"))
        elif kind == "code" and BEGIN in source:
            target = _answered(source)
            cells.append(Cell(kind, source, "answer", id_of_answer(target), target=target))
        else:
            cells.append(Cell(kind, source))
    return cells


def given_code(stub: str, api: Api) -> dict[str, str]:
    """Return the locked cells of code that count for something, or for nothing: what is in them is never a student's.

    Cells that set up or test are no part of a submission, so that their text is empty.
    """
    imports = {cell.grade_id: cell.source for cell in script_roles(stub) if cell.role == "locked"}
    return {SETUP: "", **{id_of_test(target): "" for target in api.targets}, **imports}


def with_tests(cells: list[Cell], tests: Mapping[str, Cell]) -> list[Cell]:
    """Put each target's test cell below its answer, after the cells that try it."""
    answered = [cell.target for cell in cells if cell.role == "answer"]
    if missing := [target for target in tests if target not in answered]:
        raise CellsError(f"no cell has a solution region for {', '.join(missing)}")
    if len(set(answered)) < len(answered):
        twice = next(target for target in answered if answered.count(target) > 1)
        raise CellsError(f"two cells have a solution region for {twice}; make them one")
    return list(_placed(cells, tests))


def _placed(cells: list[Cell], tests: Mapping[str, Cell]) -> Iterator[Cell]:
    waiting: Cell | None = None
    for cell in cells:
        if waiting is not None and (cell.kind == "markdown" or cell.role == "answer"):
            yield waiting
            waiting = None
        yield cell
        if cell.role == "answer":
            waiting = tests[cell.target]
    if waiting is not None:
        yield waiting


def _only_imports(source: str) -> bool:
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return False
    return bool(body) and all(isinstance(node, ast.Import | ast.ImportFrom) for node in body)


def _answered(source: str) -> str:
    """Return the one target that a cell asks for."""
    targets = read_api(source).targets
    if len(targets) != 1:
        named = ", ".join(targets) or "nothing"
        raise CellsError(f"a cell with a solution region asks for {named}; it should ask for one thing")
    return targets[0]

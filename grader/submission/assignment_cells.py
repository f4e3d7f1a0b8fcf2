"""The cells of a module's notebook as nbgrader sees them: locked, answer or test cells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from grader.core.syntax import parse
from grader.course.api import Api, read_api
from grader.course.golden import read_golden
from grader.course.module import Module
from grader.course.notebook import script_cells
from grader.course.stub import BEGIN

SCHEMA = 3  # of nbgrader's metadata
Role = Literal["plain", "locked", "answer", "test", "open"]
# nbgrader's flags for each role: grade, solution, locked.
FLAGS: Mapping[Role, tuple[bool, bool, bool]] = {
    "locked": (False, False, True),
    "answer": (False, True, False),
    "test": (True, False, True),
    "open": (True, True, False),
}
SETUP = "setup"
OPEN_QUESTION = "open-question"
OPEN_ANSWER = "open-answer"
_MARK = b'"grade_id"'


class CellsError(Exception):
    """The reason why a solution's cells cannot be an assignment."""


@dataclass(frozen=True)
class Cell:
    """One cell with its role in nbgrader. Answers and tests also have a target."""

    kind: str
    source: str
    role: Role = "plain"
    grade_id: str = ""
    points: float = 0.0
    target: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata for nbgrader and Jupyter."""
        if self.role == "plain":
            # A function that is not written yet must not stop "Run all" or nbgrader's checks.
            return {"tags": ["raises-exception"]} if self.kind == "code" else {}
        grade, solution, locked = FLAGS[self.role]
        metadata_fields = {"schema_version": SCHEMA, "grade_id": self.grade_id, "cell_type": self.kind, "task": False}
        metadata_fields |= {"grade": grade, "solution": solution, "locked": locked}
        tags = {"tags": ["raises-exception"]} if self.role == "test" else {}
        return {"nbgrader": metadata_fields | ({"points": self.points} if grade else {})} | tags


def id_of_test(target: str) -> str:
    """Return the id of the cell with a target's points."""
    return f"test-{target}"


def id_of_answer(target: str) -> str:
    """Return the id of the cell where the student writes a target. Comments on the target go there too."""
    return f"answer-{target}"


def script_roles(script: str) -> list[Cell]:
    """Return the cells of a solution with their roles: imports are locked, cells with a solution region are answers."""
    cells: list[Cell] = []
    imports = 0
    for kind, source in script_cells(script):
        if kind == "code" and _only_imports(source):
            imports += 1
            cells.append(Cell(kind, source, "locked", f"imports-{imports}"))
        elif kind == "code" and BEGIN in source:
            target = _target_of(source)
            cells.append(Cell(kind, source, "answer", id_of_answer(target), target=target))
        else:
            cells.append(Cell(kind, source))
    return cells


def given_code(stub: str, api: Api) -> dict[str, str]:
    """Return the original text of the locked code cells, by id. It is used in place of the student's version.

    Setup and test cells are not part of a submission, so their text is empty.
    """
    imports = {cell.grade_id: cell.source for cell in script_roles(stub) if cell.role == "locked"}
    return {SETUP: "", **{id_of_test(target): "" for target in api.targets}, **imports}


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


def with_tests(cells: list[Cell], tests: Mapping[str, Cell]) -> list[Cell]:
    """Add each target's test cell below its answer, after the example cells."""
    answered = [cell.target for cell in cells if cell.role == "answer"]
    if missing := [target for target in tests if target not in answered]:
        raise CellsError(f"no cell has a solution region for {', '.join(missing)}")
    if len(set(answered)) < len(answered):
        duplicate = next(target for target in answered if answered.count(target) > 1)
        raise CellsError(f"two cells have a solution region for {duplicate}. Merge them")
    return list(_interleave(cells, tests))


def _interleave(cells: list[Cell], tests: Mapping[str, Cell]) -> Iterator[Cell]:
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
        body = parse(source).body
    except SyntaxError:
        return False
    return bool(body) and all(isinstance(node, ast.Import | ast.ImportFrom) for node in body)


def _target_of(source: str) -> str:
    """Return the target that a cell defines."""
    targets = read_api(source).targets
    if len(targets) != 1:
        listed = ", ".join(targets) or "nothing"
        raise CellsError(f"a cell with a solution region defines {listed}. It must define exactly one target")
    return targets[0]

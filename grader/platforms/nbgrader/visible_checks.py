"""The visible checks of a module, split by target: for each target the statements that its cell needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from grader.core.syntax import parse
from grader.course.api import REFLECT, Api
from grader.course.module import CourseError, Module, read_text
from grader.grading.checks import read_checks
from grader.grading.run_suite import direct_tests


@dataclass(frozen=True)
class _Part:
    """A statement of the file with the comments above it, the names it defines, and the names it uses."""

    node: ast.stmt
    text: str
    defines: frozenset[str]
    uses: frozenset[str]


def visible_checks(module: Module, api: Api) -> dict[str, str]:
    """Return, for each target, a text that defines its visible checks and nothing else."""
    tests = direct_tests(module.checks)
    if tests is None:
        fix = "Let every visible check have no parameters but `student` and `rng`"
        raise CourseError(module.checks, "", "cannot be split into the cells of a notebook", fix)
    parts = list(_parts(read_text(module.checks)))
    wanted: dict[str, list[str]] = {target: [] for target in api.targets}
    checks = read_checks(tests, {module.checks: "visible"}, api.targets)
    for one, check in zip(tests, checks, strict=True):
        wanted[check.target].append(one.name)
    texts = {target: _joined(_needed(parts, frozenset(names))) for target, names in wanted.items()}
    return {target: text or _check_answered(api) if target == REFLECT else text for target, text in texts.items()}


def _parts(text: str) -> Iterator[_Part]:
    lines = text.splitlines()
    end = 0
    for node in parse(text).body:
        start, end = end, node.end_lineno or 0
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # the docstring of the file
            yield _Part(node, "\n".join(lines[start:end]).strip("\n"), frozenset(_defined(node)), frozenset(names))


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    stored = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
    return stored | set(_changed(node))


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose items or attributes a statement sets, such as ENTRY for `ENTRY[0, 1] = 1`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            owner: ast.expr = inner
            while isinstance(owner, ast.Subscript | ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name):
                yield owner.id


def _needed(parts: list[_Part], names: frozenset[str]) -> list[tuple[_Part, str]]:
    """Return the statements that some names need, directly or indirectly, each with its text."""
    chosen: list[_Part] = []
    wanted = set(names)
    while more := [part for part in parts if part not in chosen and part.defines & wanted]:
        chosen += more
        wanted |= {name for part in more for name in part.uses}
    return [(part, _only(part, wanted)) for part in parts if part in chosen]


def _only(part: _Part, wanted: set[str]) -> str:
    """Return the text of a statement; an import keeps only the names that are wanted."""
    if not isinstance(part.node, ast.ImportFrom):
        return part.text
    kept = [alias for alias in part.node.names if (alias.asname or alias.name) in wanted]
    return ast.unparse(ast.ImportFrom(part.node.module, kept, part.node.level))


def _joined(parts: list[tuple[_Part, str]]) -> str:
    text = ""
    for before, (part, line) in zip([None, *(part for part, _ in parts)], parts, strict=False):
        both = {type(one.node) for one in (before, part) if one is not None}
        apart = before is not None and (ast.FunctionDef in both or len(both) > 1)
        text += f"{chr(10) * apart}{line}\n"
    return text


def _check_answered(api: Api) -> str:
    """Return a check that every question of Reflect has an answer. The hidden suite checks whether it is right."""
    lines = [f'    assert student.{name} is not None, "{name} is still None"' for name in api.constants]
    text = "from grader.testing import worth\n\n"
    text += '@worth(1, "every question has an answer; whether it is right is seen when your work is graded")\n'
    return text + "\n".join(["def test_every_question_has_an_answer(student):", *lines]) + "\n"

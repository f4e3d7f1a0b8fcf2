"""The assignment that all three graders get: the files of softmax/, read as data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.course.stub import make_stub

FOLDER = Path(__file__).parent / "softmax"
QUESTIONS = ("softmax", "log_softmax", "softmax_with_temperature")
IMPORTS = "import numpy as np"


@dataclass(frozen=True)
class Check:
    """One check: a function that gets the function to test, and asserts."""

    name: str
    question: str
    property: str
    source: str
    hidden: bool


@dataclass(frozen=True)
class Assignment:
    """The checks, what they share by name (constants, oracles), their assertions for a notebook, and the answers."""

    checks: tuple[Check, ...]
    shared: Mapping[str, str]
    words: str
    solution: str

    def of(self, question: str) -> tuple[Check, ...]:
        """Return the checks of a question, the visible one first."""
        return tuple(check for check in self.checks if check.question == question)

    def behind(self, source: str) -> str:
        """Return the shared code that a source needs. So a visible check shows no code of a hidden check."""
        needed: set[str] = set()
        found = [source]
        while found:
            text = found.pop()
            new = {name for name in self.shared if re.search(rf"\b{name}\b", text)} - needed
            needed |= new
            found += [self.shared[name] for name in new]
        return "\n\n".join(text for name, text in self.shared.items() if name in needed)

    def answers(self) -> Mapping[str, str]:
        """Return the solution of each question, with the marks of its region."""
        return functions_of(self.solution)

    def stubs(self) -> Mapping[str, str]:
        """Return the stub of each answer."""
        return functions_of(make_stub(self.solution))


@cache
def read_assignment() -> Assignment:
    """Read the assignment."""
    text = (FOLDER / "checks.py").read_text()
    nodes = [node for node in ast.parse(text).body if not isinstance(node, ast.Import | ast.Expr)]
    checks = tuple(_checks(text, nodes))
    shared = {name: _source(text, node) for node in nodes if (name := _name(node)) not in {one.name for one in checks}}
    words = (FOLDER / "words.py").read_text().partition(f"{IMPORTS}\n")[2].strip()
    return Assignment(checks, shared, f"import re\n\n\n{words}", (FOLDER / "solution.py").read_text())


def functions_of(text: str) -> dict[str, str]:
    """Return the source of every function at the top level of a script; the last definition of a name counts."""
    return {node.name: _source(text, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def _checks(text: str, nodes: list[ast.stmt]) -> Iterator[Check]:
    seen: set[str] = set()
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name, args=ast.arguments(args=[ast.arg(arg=question)])) if question in QUESTIONS:
                said = ast.get_docstring(node)
                assert said, f"{name} does not say what it shows"
                yield Check(name, question, said, _source(text, node), question in seen)
                seen.add(question)


def _name(node: ast.stmt) -> str:
    """Return the name of the function or constant that a statement of the shared code defines."""
    return node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node).partition(" = ")[0]


def _source(text: str, node: ast.stmt) -> str:
    """Return the lines of a statement, with the comment that closes its region."""
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    following = text.splitlines()[node.end_lineno or 0 :]
    for line in following:  # for the parser, this comment is not part of the function
        if not line.strip().startswith("### END"):
            break
        lines.append(line)
    return "\n".join(lines)

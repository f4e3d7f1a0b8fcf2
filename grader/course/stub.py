"""The single source: a stub is its solution with the solution regions taken out."""

from __future__ import annotations

import ast

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
WORK = "raise NotImplementedError"
# At the top level a `raise` would make the whole stub impossible to import.
ANSWER = "# Your answer goes here."


class StubError(Exception):
    """A solution whose markers do not pair up."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def make_stub(solution: str) -> str:
    """Return the stub of a solution; whatever stands outside its regions is kept byte for byte."""
    kept: list[str] = []
    opened = 0
    bodies = _function_lines(solution)
    for number, line in enumerate(solution.splitlines(keepends=True), 1):
        marker = _marker(line, number)
        if marker == BEGIN:
            if opened:
                raise StubError(number, f"{BEGIN} inside the region that begins on line {opened}")
            if line[0].isspace() and bodies is not None and number not in bodies:
                raise StubError(number, "a region must be inside a function, or start in the first column")
            opened = number
            kept.append(_placeholder(line))
        elif marker == END:
            if not opened:
                raise StubError(number, f"{END} without a {BEGIN} before it")
            if number == opened + 1:
                raise StubError(number, "an empty region: the stub would show what the student should write")
            opened = 0
        elif not opened:
            kept.append(line)
    if opened:
        raise StubError(opened, f"{BEGIN} without an {END} after it")
    return "".join(kept)


def _function_lines(solution: str) -> set[int] | None:
    """Return the numbers of the lines inside functions, where a `raise` waits for a call; None if it is no Python."""
    try:
        tree = ast.parse(solution)
    except SyntaxError:
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {line for node in functions for line in range(node.lineno, (node.end_lineno or 0) + 2)}


def _marker(line: str, number: int) -> str:
    for marker in (BEGIN, END):
        if marker in line:
            # nbgrader finds a marker anywhere in a line; ours stands alone, so that both read the same.
            if line.strip() != marker:
                raise StubError(number, f"{marker} must stand alone on its line")
            return marker
    return ""


def _placeholder(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    ending = line[len(line.rstrip("\r\n")) :]
    return f"{indent}{WORK if indent else ANSWER}{ending}"

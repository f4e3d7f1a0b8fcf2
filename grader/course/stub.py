"""Stubs, made from solutions by removing the solution regions."""

from __future__ import annotations

import ast

from grader.core.syntax import parse

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
TODO = "raise NotImplementedError"
# A `raise` at the top level would make the stub impossible to import.
ANSWER = "# Your answer goes here."


class StubError(Exception):
    """A mistake in the markers of a solution."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def make_stub(solution: str) -> str:
    """Return the stub of a solution. Text outside the solution regions is kept byte for byte."""
    stub_lines: list[str] = []
    region_start = 0
    function_lines = _function_lines(solution)
    for number, line in enumerate(solution.splitlines(keepends=True), 1):
        marker = _marker(line, number)
        if marker == BEGIN:
            if region_start:
                raise StubError(number, f"{BEGIN} inside the region that begins on line {region_start}")
            if line[0].isspace() and function_lines is not None and number not in function_lines:
                raise StubError(number, "a region must be inside a function, or start in the first column")
            region_start = number
            stub_lines.append(_placeholder(line))
        elif marker == END:
            if not region_start:
                raise StubError(number, f"{END} without a {BEGIN} before it")
            if number == region_start + 1:
                raise StubError(number, "an empty region: the stub would already be complete")
            region_start = 0
        elif not region_start:
            stub_lines.append(line)
    if region_start:
        raise StubError(region_start, f"{BEGIN} without an {END} after it")
    return "".join(stub_lines)


def _function_lines(solution: str) -> set[int] | None:
    """Return the line numbers inside functions, where a `raise` runs only on a call; None if it is not Python."""
    try:
        tree = parse(solution)
    except SyntaxError:
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {line for node in functions for line in range(node.lineno, (node.end_lineno or 0) + 2)}


def _marker(line: str, number: int) -> str:
    for marker in (BEGIN, END):
        if marker in line:
            # nbgrader finds a marker anywhere in a line. Ours must be alone, so that both tools find the same ones.
            if line.strip() != marker:
                raise StubError(number, f"{marker} must be alone on its line")
            return marker
    return ""


def _placeholder(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    ending = line[len(line.rstrip("\r\n")) :]
    return f"{indent}{TODO if indent else ANSWER}{ending}"

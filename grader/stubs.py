"""The single source: a stub is its solution with the solution regions taken out."""

from __future__ import annotations

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
    for number, line in enumerate(solution.splitlines(keepends=True), 1):
        marker = _marker(line, number)
        if marker == BEGIN:
            if opened:
                raise StubError(number, f"{BEGIN} inside the region that begins on line {opened}")
            opened = number
            kept.append(_placeholder(line))
        elif marker == END:
            if not opened:
                raise StubError(number, f"{END} without a {BEGIN} before it")
            opened = 0
        elif not opened:
            kept.append(line)
    if opened:
        raise StubError(opened, f"{BEGIN} without an {END} after it")
    return "".join(kept)


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

"""The search for leaks: lines of a solution, or parts of a hidden suite, in a text for students."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from grader.course.course import Course
from grader.course.module import Module, read_text
from grader.course.stub import BEGIN, END

# Shorter lines, such as `return x`, are shared by any two programs.
SHORTEST_LEAK = 12
# Two suites may share a line or two, such as a decorator and a call. Three in a row were copied.
HIDDEN_RUN = 3
_IMPORT_LIST = re.compile(r"^[ \t]*from [\w.]+ import \([^)]*\)", re.MULTILINE)


class LeakSearch:
    """Searches texts for what students must not have of one module.

    Lines of the *generated* stub are public; the stub on disk may have been edited.
    """

    def __init__(self, course: Course, module: Module) -> None:
        self.module = module.name
        public = set(lines_of(course.stub_text(module)))
        solution = [line for line in _solution_lines(course, module) if line not in public]
        self._solution = {run: _runs(solution, run) for run in (1, 2)}
        hidden = course.hidden_suite(module)
        suite = [line for line in lines_of(read_text(hidden)) if line not in public] if hidden.is_file() else []
        self._suite = _runs(suite, HIDDEN_RUN)

    def leaks(self, lines: list[str], run: Literal[1, 2] = 1, own: Collection[str] = ()) -> Iterator[str]:
        """Yield what lines of a text contain: `run` lines of the solution in a row, or a part of the hidden suite.

        `own` has lines that the student wrote, who may have written a line of the solution.
        """
        for found in sorted(_runs(lines, run) & self._solution[run]):
            if not set(found) <= set(own):
                yield f"contains a line of the solution of {self.module}: {found[0]!r}"
        for found in sorted(_runs(lines, HIDDEN_RUN) & self._suite):
            yield f"contains a part of the hidden suite of {self.module}: {found[0]!r}"


def lines_of(text: str) -> list[str]:
    """Return the longer lines of a text, but no imports, without comment signs and extra spaces."""
    bare = (" ".join(line.strip().lstrip("#>| ").split()) for line in _IMPORT_LIST.sub("", text).splitlines())
    return [line for line in bare if len(line) >= SHORTEST_LEAK and not line.startswith(("import ", "from "))]


def _solution_lines(course: Course, module: Module) -> list[str]:
    """Return the longer lines of a module's solution regions."""
    inside = False
    regions: list[str] = []
    for line in read_text(course.solution(module)).splitlines():
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif inside:
            regions.append(line)
    return lines_of("\n".join(regions))


def _runs(lines: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(lines[start : start + length]) for start in range(len(lines) - length + 1)}

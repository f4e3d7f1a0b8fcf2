"""An excerpt of a student's source: the line to look at, with the lines around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.core.safe_text import plain_name, visible_line

AROUND = 2
WIDEST = 160
_LINE_END = re.compile(r"\r\n|\r|\n")  # as Python counts lines


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a file, by the number of the first, and the number of the line to look at."""

    file: str
    first: int
    marked: int
    lines: tuple[str, ...]


def excerpt_of(file: str, text: str, number: int | None) -> Excerpt | None:
    """Return the lines around a line of a text; None if it has no such line."""
    lines = _LINE_END.split(text)
    if number is None or not 0 < number <= len(lines):
        return None
    first = max(1, number - AROUND)
    return Excerpt(plain_name(file), first, number, tuple(map(_shown, lines[first - 1 : number + AROUND])))


def _shown(line: str) -> str:
    line = line[: WIDEST + 1].expandtabs(4).rstrip()
    return visible_line(line[:WIDEST]) + ("…" if len(line) > WIDEST else "")

"""Places: the line of a student's file in which a wrong way most likely is.

The grader reads what students wrote as text and never parses it: a parser can be made to fall over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.submission import Source

_WORD = re.compile(r"[A-Za-z_]\w{0,60}|\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?|[@%]|\*\*|[-+*/]=")
_LONGEST = 2_000
_QUOTES = ('"""', "'''")


@dataclass(frozen=True)
class Line:
    """A line, and the cell it is in if the file is a notebook."""

    number: int
    cell: int | None


def telling_words(wrong: str, right: str) -> list[str]:
    """Return the words of the lines that a wrong way has and the solution has not."""
    usual = {line.strip() for line in right.splitlines()}
    lines = [
        line for line in wrong.splitlines() if line.strip() not in usual and not line.startswith(("def ", "class "))
    ]
    return sorted({word for line in lines for word in _words(line)})


def likely_line(source: Source, path: str, words: Sequence[str]) -> Line | None:
    """Return the line of a function that has most of these words, its first line if none has any."""
    for cell, text in reversed(list(enumerate(source.cells, 1))):
        if block := _block(text.splitlines(), path):
            best = _best(block, words)
            return Line(best, cell if source.notebook else None)
    return None


def _best(block: list[tuple[int, str]], words: Sequence[str]) -> int:
    found = {number: _words(line) & set(words) for number, line in block[1:]}
    common = {word: sum(word in have for have in found.values()) for word in words}
    scores = {number: sum(1 / common[word] for word in have) for number, have in found.items()}
    best = max(scores, key=lambda number: scores[number], default=block[0][0])
    return best if scores.get(best) else block[0][0]


def _block(lines: list[str], path: str) -> list[tuple[int, str]]:
    """Return the numbered lines of a function or method, its own first, without docstrings; none if not there."""
    owner, _, method = path.rpartition(".")
    found = _body(list(enumerate(lines, 1)), rf"class\s+{re.escape(owner)}\b") if owner else list(enumerate(lines, 1))
    return _without_docstrings(_body(found, rf"def\s+{re.escape(method)}\b"))


def _body(lines: list[tuple[int, str]], opening: str) -> list[tuple[int, str]]:
    """Return the block that begins so: the outermost, and of those the last, as Python would have it."""
    start = re.compile(rf"(\s{{0,80}})(?:async\s+)?{opening}")
    found = [(len(m[1]), position) for position, (_, line) in enumerate(lines) if (m := start.match(line))]
    if not found:
        return []
    depth, position = min(found, key=lambda one: (one[0], -one[1]))
    end = position + 1
    while end < len(lines) and (_is_bare(lines[end][1]) or _indent(lines[end][1]) > depth):
        end += 1
    return lines[position:end]


def _is_bare(line: str) -> bool:
    """Whether a line says nothing of where a block ends: empty, or the end of a list of arguments."""
    return not line.strip() or line.lstrip().startswith((")", "#"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_docstrings(block: list[tuple[int, str]]) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    closing = ""
    for number, line in block:
        if closing:
            closing = "" if closing in line else closing
            continue
        opening = next((quotes for quotes in _QUOTES if line.lstrip().startswith(quotes)), "")
        if opening:
            closing = opening if line.count(opening) == 1 else ""
            continue
        kept.append((number, line))
    return kept


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line[:_LONGEST].partition("#")[0]))

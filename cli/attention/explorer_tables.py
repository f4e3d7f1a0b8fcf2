"""The explorer's numbers as texts: five tables for each view, of which equal ones are kept once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor

import numpy as np

from cli.attention.exploration import View
from cli.attention.formula import Case, Stages
from cli.attention.trace import number_text
from grader.pages.heat_map import LEVELS

BLOCKED = "blocked"
STAGES = ("raw", "scaled", "masked", "weights", "output")
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Cell:
    """A number, its shade, and whether it is not as expected."""

    text: str
    level: int
    off: bool


@dataclass(frozen=True)
class Table:
    """One map: a row for each query."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Pool:
    """All tables of a page as texts, each once."""

    places: dict[str, int] = field(default_factory=dict)
    _pairs: dict[tuple[bytes, bytes], tuple[int, int]] = field(default_factory=dict)

    def view(self, view: View) -> list[int]:
        """Return the places of a view's tables: five of the student, five expected, and two of a misconception."""
        mine, right = _tables(view.yours, view.asked), _tables(view.expected, view.right)
        pairs = [self._pair(*both) for both in zip(mine, right, strict=True)]
        other = _tables(view.what_if, view.right)[3:] if view.what_if else []
        alone = [self._pair(table, table)[0] for table in other]
        return [*(place for place, _ in pairs), *(place for _, place in pairs), *alone]

    def read(self, place: int) -> Rows:
        """Return the table at a place."""
        text = list(self.places)[place]
        return tuple(tuple(row.split(" ")) for row in text.split(";"))

    def _pair(self, mine: np.ndarray, right: np.ndarray) -> tuple[int, int]:
        """Return the places of a table and of the expected one. Numbers that differ only by rounding are one text."""
        key = mine.tobytes(), right.tobytes()
        if key not in self._pairs:
            shown = np.where(np.isclose(mine, right, rtol=1e-6, atol=1e-9), mine, right)
            self._pairs[key] = self._place(mine), self._place(shown)
        return self._pairs[key]

    def _place(self, table: np.ndarray) -> int:
        text = ";".join(" ".join(map(_text, row)) for row in table.tolist())
        return self.places.setdefault(text, len(self.places))


def shaded(shown: Sequence[tuple[str, Rows]], expected: Rows, columns: tuple[str, ...]) -> Iterator[Table]:
    """Yield the maps of a stage. They share one scale, so that equal shades are equal numbers."""
    most = max((abs(_number(text)) for _, rows in shown for row in rows for text in row), default=0.0)
    for title, rows in shown:
        cells = tuple(
            tuple(
                Cell(text, _level(_number(text), most), text != right) for text, right in zip(row, wanted, strict=True)
            )
            for row, wanted in zip(rows, expected, strict=True)
        )
        yield Table(title, columns, cells)


def _level(number: float, most: float) -> int:
    return floor(LEVELS * number / most + 0.5) if most else 0  # as the script rounds


def _tables(stages: Stages, case: Case) -> list[np.ndarray]:
    """Return the five tables of a case. Infinity stands for a blocked score."""
    masked = np.where(case.allowed, stages.scaled / case.temperature, np.inf)
    return [stages.raw, stages.scaled, masked, stages.weights, stages.output]


def _text(number: float) -> str:
    return BLOCKED if number == np.inf else number_text(number)


def _number(text: str) -> float:
    return 0.0 if text == BLOCKED else float(text)

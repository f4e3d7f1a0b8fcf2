"""The explorer's numbers as texts: five tables for each view, of which equal ones are kept once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.pages.heat_map import LEVELS
from grader.workspace.exploration import View
from grader.workspace.formula import Case, Stages
from grader.workspace.trace import number_text

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
    """All tables of a page, each once."""

    places: dict[str, int] = field(default_factory=dict)

    def view(self, view: View) -> list[int]:
        """Return the places of a view's tables: five of the student, five expected, and two of a misconception."""
        yours = _texts(view.yours, view.asked)
        expected = [
            tuple(tuple(mine if same else text for mine, text, same in zip(*cells, strict=True)) for cells in rows)
            for rows in (
                zip(*tables, strict=True)
                for tables in zip(yours, _texts(view.expected, view.right), _same(view), strict=True)
            )
        ]
        other = _texts(view.what_if, view.right)[3:] if view.what_if else []
        return [self._place(rows) for rows in (*yours, *expected, *other)]

    def read(self, place: int) -> Rows:
        """Return the table at a place."""
        text = list(self.places)[place]
        return tuple(tuple(row.split(" ")) for row in text.split(";"))

    def _place(self, rows: Rows) -> int:
        return self.places.setdefault(";".join(" ".join(row) for row in rows), len(self.places))


def shaded(shown: Sequence[tuple[str, Rows]], expected: Rows, columns: tuple[str, ...]) -> Iterator[Table]:
    """Yield the maps of a stage. They share one scale, so that equal shades are equal numbers."""
    most = max((abs(_number(text)) for _, rows in shown for row in rows for text in row), default=0.0)
    for title, rows in shown:
        cells = tuple(
            tuple(
                Cell(text, round(LEVELS * _number(text) / most) if most else 0, text != right)
                for text, right in zip(row, wanted, strict=True)
            )
            for row, wanted in zip(rows, expected, strict=True)
        )
        yield Table(title, columns, cells)


def _texts(stages: Stages, case: Case) -> list[Rows]:
    """Return the five tables of a case as texts."""
    raw, scaled, weights, output = (
        tuple(tuple(map(number_text, row)) for row in table.tolist())
        for table in (stages.raw, stages.scaled, stages.weights, stages.output)
    )
    masked = tuple(
        tuple(number_text(one) if allowed else BLOCKED for one, allowed in zip(*both, strict=True))
        for both in zip((stages.scaled / case.temperature).tolist(), case.allowed.tolist(), strict=True)
    )
    return [raw, scaled, masked, weights, output]


def _same(view: View) -> list[list[list[bool]]]:
    """Return where the numbers of each stage are equal but for rounding, which could show in the last decimal."""
    raw, scaled, weights, output = (
        np.isclose(getattr(view.yours, name), getattr(view.expected, name), rtol=1e-6, atol=1e-9)
        for name in ("raw", "scaled", "weights", "output")
    )
    masked = scaled & (view.asked.allowed == view.right.allowed)
    return [table.tolist() for table in (raw, scaled, masked, weights, output)]


def _number(text: str) -> float:
    return 0.0 if text == BLOCKED else float(text)

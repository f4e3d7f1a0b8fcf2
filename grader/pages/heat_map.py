"""Heat maps of two results: the student's numbers, the expected ones, and the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from grader.core.report import Rows, ValueGap

LEVELS = 4  # shades on each side of zero


@dataclass(frozen=True)
class HeatCell:
    """One number as text, its shade from -LEVELS to LEVELS, and whether it is not as expected."""

    text: str
    level: int
    differs: bool


@dataclass(frozen=True)
class HeatMap:
    """A table of numbers with a shade for each."""

    title: str
    rows: tuple[tuple[HeatCell, ...], ...]

    @property
    def columns(self) -> int:
        """The number of cells in a row."""
        return max((len(row) for row in self.rows), default=0)


def heat_maps(gap: ValueGap) -> tuple[HeatMap, ...]:
    """Return the three maps of a gap. The first two share one scale, so that equal shades are equal numbers."""
    differs = tuple(
        tuple(one != other for one, other in zip(mine, wanted, strict=False))
        for mine, wanted in zip(gap.yours, gap.expected, strict=False)
    )
    shared = _scale(gap.yours + gap.expected)
    differences = _differences(gap)
    return (
        _heat_map("Your result", gap.yours, shared, differs),
        _heat_map("Expected", gap.expected, shared, differs),
        _heat_map("Difference", differences, _scale(differences), differs),
    )


def _heat_map(title: str, rows: Rows, scale: Callable[[str], int], differs: tuple[tuple[bool, ...], ...]) -> HeatMap:
    cells = [
        tuple(HeatCell(text, scale(text), off) for text, off in zip(row, wrong, strict=False))
        for row, wrong in zip(rows, differs, strict=False)
    ]
    return HeatMap(title, tuple(cells))


def _scale(rows: Rows) -> Callable[[str], int]:
    """Return the shade of a number: the largest number of some rows has the strongest."""
    most = max((abs(number) for row in rows for text in row if isfinite(number := _number(text))), default=0.0)

    def level(text: str) -> int:
        number = _number(text)
        return round(LEVELS * number / most) if most and isfinite(number) else 0

    return level


def _differences(gap: ValueGap) -> Rows:
    return tuple(
        tuple(_difference(one, other) for one, other in zip(mine, wanted, strict=False))
        for mine, wanted in zip(gap.yours, gap.expected, strict=False)
    )


def _difference(one: str, other: str) -> str:
    if one == other:
        return "0"
    gap = _number(one) - _number(other)
    return f"{gap:+.3g}" if isfinite(gap) else "≠"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")

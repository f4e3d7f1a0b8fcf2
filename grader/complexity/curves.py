"""Curves and tables of a function's cost over the sizes that grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log2

from grader.complexity.contract import Contract
from grader.complexity.polynomial import Polynomial, Sizes

_FIXED = 64  # of every size that does not grow
_BATCH = "b"  # the size of the batch, which is always one here
CURVE = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
TABLE = (16, 32, 64, 128, 256, 2048)
FLOAT32 = 4


@dataclass(frozen=True)
class CountRow:
    """One row of the table that the lessons ask for. `ratio` is to the row above."""

    n: int
    count: int
    ratio: float | None
    entries: int | None
    bytes: int | None


def growing(contract: Contract, measured: Polynomial | None = None, bound: Polynomial | None = None) -> tuple[str, ...]:
    """Return the sizes to vary: those of tokens, whose names start with n, or all sizes if none does.

    Where a cost grows beyond its limit with other sizes, these are varied. A plot over tokens would not show it.
    """
    names = contract.lattice.names
    tokens = tuple(name for name in names if name.startswith("n")) or names
    if measured is None or bound is None:
        return tokens
    beyond = {
        name
        for powers in measured.beyond(bound)
        for at, name in enumerate(names)
        if powers[at] > max(allowed[at] for allowed in bound.terms)
    }
    if not beyond <= set(tokens):
        return tuple(name for name in names if name in beyond)
    used = {name for powers in measured.terms for name, power in zip(names, powers, strict=True) if power}
    return tokens if used & set(tokens) or not used else tuple(name for name in names if name in used)


def sizes_at(contract: Contract, n: int, grows: tuple[str, ...]) -> Sizes:
    """Return the sizes of an input where the sizes that grow are n."""
    return tuple(n if name in grows else 1 if name == _BATCH else _FIXED for name in contract.lattice.names)


def fixed_sizes(contract: Contract, grows: tuple[str, ...]) -> dict[str, int]:
    """Return the sizes that stay the same while others grow."""
    at = sizes_at(contract, 0, grows)
    return {name: size for name, size in zip(contract.lattice.names, at, strict=True) if name not in grows}


def curve(name: str, mark: str, polynomial: Polynomial, contract: Contract, grows: tuple[str, ...]) -> Curve:
    """Return the curve of a polynomial over the sizes that grow."""
    return Curve(name, mark, tuple((n, float(polynomial.at(sizes_at(contract, n, grows)))) for n in CURVE))


def doubling(polynomial: Polynomial, contract: Contract, grows: tuple[str, ...]) -> float:
    """Return the factor by which the count grows from 1024 to 2048."""
    less, more = (float(polynomial.at(sizes_at(contract, n, grows))) for n in (1024, 2048))
    return more / less if less else 1.0


def table(polynomial: Polynomial, contract: Contract, grows: tuple[str, ...]) -> list[CountRow]:
    """Return the counts for the lesson's numbers of tokens, and the size of the weights where there are any."""
    pairs = sum(name.startswith("n") for name in grows) > 1
    rows: list[CountRow] = []
    for n in TABLE:
        count = int(polynomial.at(sizes_at(contract, n, grows)))
        ratio = count / rows[-1].count if rows and rows[-1].count else None
        rows.append(CountRow(n, count, ratio, n * n if pairs else None, FLOAT32 * n * n if pairs else None))
    return rows


# Plots on two logarithmic axes, where every power is a straight line ----------------------------------------

_WIDTH, _HEIGHT = 56, 14
_SVG_WIDTH, _SVG_HEIGHT, _MARGIN = 640, 400, 60
_COLOURS = ("#c0392b", "#2c6fbb", "#888888")
_DASHES = ("", "", "6 4")


@dataclass(frozen=True)
class Curve:
    """A name, a mark for the terminal, and counts by size."""

    name: str
    mark: str
    points: tuple[tuple[int, float], ...]


def text_plot(curves: Sequence[Curve], across: str, up: str, height: int = _HEIGHT) -> list[str]:
    """Return the plot as lines of text. Where curves meet, the first one is shown."""
    box = _Box.around(curves)
    rows = [[" "] * _WIDTH for _ in range(height)]
    for curve in reversed(curves):
        for x, y in curve.points:
            column, row = box.place(x, y, _WIDTH - 1, height - 1)
            rows[height - 1 - round(row)][round(column)] = curve.mark
    lines = [f"{up}, each line up is {2 ** (box.height / (height - 1)):.3g} times as much"]
    lines += [f"  |{''.join(row).rstrip()}" for row in rows]
    lines += [f"  +{'-' * _WIDTH}", f"   {box.left:<{_WIDTH // 2}}{f'{across} = {box.right}':>{_WIDTH - _WIDTH // 2}}"]
    return [*lines, "   " + ", ".join(f"{curve.mark} {curve.name}" for curve in curves)]


def svg_plot(curves: Sequence[Curve], across: str, up: str, title: str) -> str:
    """Return the plot as a complete SVG image."""
    box = _Box.around(curves)
    width, height = _SVG_WIDTH - 2 * _MARGIN, _SVG_HEIGHT - 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SVG_WIDTH} {_SVG_HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_SVG_WIDTH}" height="{_SVG_HEIGHT}" fill="white"/>',
        f'<text x="{_MARGIN}" y="{_MARGIN / 2}" font-size="16">{escape(title)}</text>',
        f'<path d="M{_MARGIN} {_MARGIN}V{_SVG_HEIGHT - _MARGIN}H{_SVG_WIDTH - _MARGIN}" fill="none" stroke="black"/>',
        f'<text x="{_SVG_WIDTH - _MARGIN}" y="{_SVG_HEIGHT - _MARGIN + 34}" text-anchor="end">{escape(across)}</text>',
        f'<text x="{_MARGIN}" y="{_MARGIN - 8}">{escape(up)}</text>',
    ]
    for size in sorted({x for curve in curves for x, _ in curve.points}):
        x = _MARGIN + box.place(size, 2**box.bottom, width, height)[0]
        parts.append(f'<text x="{x:.1f}" y="{_SVG_HEIGHT - _MARGIN + 17}" text-anchor="middle">{size}</text>')
    for number, curve in enumerate(curves):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        places = [box.place(x, y, width, height) for x, y in curve.points]
        path = " ".join(f"{_MARGIN + x:.1f},{_SVG_HEIGHT - _MARGIN - y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-dasharray="{dash}" stroke-width="2"/>'
        )
        y = _MARGIN + 18 * (number + 1)
        parts.append(f'<text x="{_MARGIN + 12}" y="{y}" fill="{colour}">{escape(curve.name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True)
class _Box:
    """The range of sizes and counts in a plot; counts as powers of 2."""

    left: int
    right: int
    bottom: float
    height: float

    @staticmethod
    def around(curves: Sequence[Curve]) -> _Box:
        sizes = [x for curve in curves for x, _ in curve.points]
        counts = [log2(max(y, 1)) for curve in curves for _, y in curve.points]
        return _Box(min(sizes), max(sizes), min(counts), max(max(counts) - min(counts), 1.0))

    def place(self, x: int, y: float, width: float, height: float) -> tuple[float, float]:
        across = log2(x / self.left) / max(log2(self.right / self.left), 1e-9)
        return width * across, height * (log2(max(y, 1)) - self.bottom) / self.height

"""Plots on two logarithmic axes, where every power is a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log2

WIDTH, HEIGHT = 56, 14
SVG_WIDTH, SVG_HEIGHT, MARGIN = 640, 400, 60
COLOURS = ("#c0392b", "#2c6fbb", "#888888")
DASHES = ("", "", "6 4")


@dataclass(frozen=True)
class Curve:
    """A name, a mark for the terminal, and counts by size."""

    name: str
    mark: str
    points: tuple[tuple[int, float], ...]


def text_plot(curves: Sequence[Curve], across: str, up: str) -> list[str]:
    """Return the plot as lines of text. Where curves meet, the first one is shown."""
    box = _Box.around(curves)
    rows = [[" "] * WIDTH for _ in range(HEIGHT)]
    for curve in reversed(curves):
        for x, y in curve.points:
            column, row = box.place(x, y, WIDTH - 1, HEIGHT - 1)
            rows[HEIGHT - 1 - round(row)][round(column)] = curve.mark
    lines = [f"{up}, each line up is {2 ** (box.height / (HEIGHT - 1)):.3g} times as much"]
    lines += [f"  |{''.join(row).rstrip()}" for row in rows]
    lines += [f"  +{'-' * WIDTH}", f"   {box.left:<{WIDTH // 2}}{f'{across} = {box.right}':>{WIDTH - WIDTH // 2}}"]
    return [*lines, "   " + ", ".join(f"{curve.mark} {curve.name}" for curve in curves)]


def svg_plot(curves: Sequence[Curve], across: str, up: str, title: str) -> str:
    """Return the plot as a complete SVG image."""
    box = _Box.around(curves)
    width, height = SVG_WIDTH - 2 * MARGIN, SVG_HEIGHT - 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SVG_WIDTH} {SVG_HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{SVG_WIDTH}" height="{SVG_HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN / 2}" font-size="16">{escape(title)}</text>',
        f'<path d="M{MARGIN} {MARGIN}V{SVG_HEIGHT - MARGIN}H{SVG_WIDTH - MARGIN}" fill="none" stroke="black"/>',
        f'<text x="{SVG_WIDTH - MARGIN}" y="{SVG_HEIGHT - MARGIN + 34}" text-anchor="end">{escape(across)}</text>',
        f'<text x="{MARGIN}" y="{MARGIN - 8}">{escape(up)}</text>',
    ]
    for size in sorted({x for curve in curves for x, _ in curve.points}):
        x = MARGIN + box.place(size, 2**box.bottom, width, height)[0]
        parts.append(f'<text x="{x:.1f}" y="{SVG_HEIGHT - MARGIN + 17}" text-anchor="middle">{size}</text>')
    for number, curve in enumerate(curves):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        places = [box.place(x, y, width, height) for x, y in curve.points]
        path = " ".join(f"{MARGIN + x:.1f},{SVG_HEIGHT - MARGIN - y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-dasharray="{dash}" stroke-width="2"/>'
        )
        y = MARGIN + 18 * (number + 1)
        parts.append(f'<text x="{MARGIN + 12}" y="{y}" fill="{colour}">{escape(curve.name)}</text>')
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

"""The loss of a training run as a curve: in the terminal, and as points for a picture."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

COLUMNS, ROWS = 60, 12
WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 16, 40
LAST_SHARE = 20  # the final loss is the mean of the last twentieth of the steps


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class LossCurve:
    """The loss of every step, in pieces of equal length, beside the loss of the bigram model."""

    losses: tuple[float, ...]
    bigram: float
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM

    @property
    def points(self) -> str:
        """The points of the curve in a picture."""
        means = pieces(self.losses)
        return " ".join(f"{self._x(number, len(means))},{self._y(mean)}" for number, mean in enumerate(means))

    @property
    def bigram_height(self) -> float:
        """Where the line of the bigram model is in a picture."""
        return self._y(self.bigram)

    @property
    def steps(self) -> tuple[Tick, ...]:
        """The marks of the horizontal axis."""
        count = len(self.losses)
        return (
            Tick(self.left, "1"),
            Tick((self.left + self.right) / 2, str(ceil(count / 2))),
            Tick(self.right, str(count)),
        )

    @property
    def marks(self) -> tuple[Tick, ...]:
        """The marks of the vertical axis, at every full number."""
        return tuple(Tick(self._y(number), str(number)) for number in range(ceil(self._most) + 1))

    @property
    def _most(self) -> float:
        return max(*pieces(self.losses), self.bigram, 1.0)

    def _x(self, number: int, count: int) -> float:
        return round(self.left + (self.right - self.left) * number / max(count - 1, 1), 1)

    def _y(self, loss: float) -> float:
        return round(self.bottom - (self.bottom - self.top) * loss / ceil(self._most), 1)


def pieces(losses: Sequence[float], columns: int = COLUMNS) -> list[float]:
    """Return the mean loss of up to this many pieces, in their order."""
    count = min(columns, len(losses))
    ends = [len(losses) * number // count for number in range(count + 1)]
    return [sum(losses[start:end]) / (end - start) for start, end in itertools.pairwise(ends)]


def final_loss(losses: Sequence[float]) -> float:
    """Return the mean of the last losses: a single one depends on its batch."""
    last = losses[-max(1, len(losses) // LAST_SHARE) :]
    return sum(last) / len(last)


def text_curve(losses: Sequence[float], bigram: float) -> list[str]:
    """Return the curve as lines of text. The dashes are the bigram model."""
    means = pieces(losses)
    low, high = min(*means, bigram), max(*means, bigram)
    step = max(high - low, 1e-9) / (ROWS - 1)
    rows = [[" "] * len(means) for _ in range(ROWS)]
    rows[round((high - bigram) / step)] = ["-"] * len(means)
    for column, mean in enumerate(means):
        rows[round((high - mean) / step)][column] = "*"
    lines = [f"  {high - step * number:5.2f} |{''.join(row).rstrip()}" for number, row in enumerate(rows)]
    end = f"step {len(losses)}"
    return [*lines, f"        +{'-' * len(means)}", f"         1{end:>{max(len(means) - 1, 1)}}"]


def svg_curve(curve: LossCurve, title: str) -> str:
    """Return the curve as a complete SVG image."""
    x, y, level = curve.left, curve.bottom, curve.bigram_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {curve.width} {curve.height}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{curve.width}" height="{curve.height}" fill="white"/>',
        f'<path d="M{x} {curve.top}V{y}H{curve.right}" fill="none" stroke="black"/>',
        *(f'<text x="{one.at}" y="{y + 16}" text-anchor="middle">{one.text}</text>' for one in curve.steps),
        *(f'<text x="{x - 6}" y="{one.at + 4}" text-anchor="end">{one.text}</text>' for one in curve.marks),
        f'<text x="{curve.right}" y="{y + 33}" text-anchor="end">steps</text>',
        f'<path d="M{x} {level}H{curve.right}" stroke="#2c6fbb" stroke-dasharray="7 4" stroke-width="2"/>',
        f'<text x="{curve.right}" y="{level - 6}" fill="#2c6fbb" text-anchor="end">bigram model</text>',
        f'<polyline points="{curve.points}" fill="none" stroke="#c0392b" stroke-width="2.5"/>',
    ]
    return "\n".join([*parts, "</svg>", ""])

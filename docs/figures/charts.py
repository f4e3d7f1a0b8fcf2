"""Parts of figures: heat maps, bars, plots and boxes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from docs.figures.drawing import Drawing

DARKEST = 0.85  # the opacity of the largest cell: words on it stay readable


def short(value: float, decimals: int = 4) -> str:
    """Return a number as the lessons write it: no leading zero, a real minus, plain integers."""
    exact = f"{round(value, 9) + 0:.2f}".rstrip("0").rstrip(".")
    text = exact if abs(float(exact) - value) < 1e-9 else f"{value:.{decimals}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text).replace("-", "−")


def heat_map(
    d: Drawing,
    x: float,
    y: float,
    rows: Sequence[Sequence[float]] | np.ndarray,
    left: Sequence[str] = (),
    top: Sequence[str] = (),
    *,
    cell: tuple[float, float] = (46, 30),
    decimals: int = 2,
    css: str = "a",
    largest: float | None = None,
    title: str = "",
) -> None:
    """Draw a table whose cells are the darker the larger they are. x and y are the top left of the cells."""
    cells = np.asarray(rows, dtype=float)
    most = largest or float(np.abs(cells).max()) or 1.0
    width, height = cell
    if title:
        d.text(x + width * cells.shape[1] / 2, y - (34 if top else 12), title, size=14)
    for j, name in enumerate(top):
        d.text(x + width * (j + 0.5), y - 9, name, "dim", size=12)
    for i, name in enumerate(left):
        d.text(x - 8, y + height * (i + 0.5) + 4, name, "dim", "end", size=12)
    for i, row in enumerate(cells):
        for j, value in enumerate(row):
            place = (x + width * j, y + height * i)
            if value > 0:
                d.rect(*place, width, height, css, DARKEST * min(value / most, 1))
            d.frame(*place, width, height, "line-faint")
            d.text(place[0] + width / 2, place[1] + height / 2 + 4, short(value, decimals), size=12)


def bars(
    d: Drawing,
    x: float,
    base: float,
    values: Sequence[float] | np.ndarray,
    names: Sequence[str],
    *,
    unit: float,
    step: float = 44,
    decimals: int = 4,
    css: str = "a",
    title: str = "",
    title_y: float = 24,
) -> None:
    """Draw bars that stand on a line. `unit` is the height of a bar of 1."""
    d.line([(x - 4, base), (x + step * len(names) - 4, base)], "line")
    if title:
        d.text(x + step * len(names) / 2 - 4, title_y, title, size=14)
    for number, (value, name) in enumerate(zip(values, names, strict=True)):
        left, height = x + step * number, unit * float(value)
        d.rect(left, base - max(height, 0), step - 8, abs(height), css)
        d.text(left + step / 2 - 4, base - max(height, 0) - 5, short(float(value), decimals), size=11)
        d.text(left + step / 2 - 4, base + 16 + max(-height, 0), name, "dim", size=12)


@dataclass(frozen=True)
class Axes:
    """A place for curves: the box in pixels, and the numbers at its edges. Logarithmic if told so."""

    box: tuple[float, float, float, float]  # left, top, right, bottom
    x: tuple[float, float]
    y: tuple[float, float]
    log: bool = False

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixels of a point."""
        left, top, right, bottom = self.box
        return (
            left + (right - left) * _share(x, *self.x, log=self.log),
            bottom - (bottom - top) * _share(y, *self.y, log=self.log),
        )


def plot(
    d: Drawing,
    axes: Axes,
    curves: Mapping[str, tuple[Sequence[float] | np.ndarray, Sequence[float] | np.ndarray]],
    *,
    ticks_x: Mapping[float, str],
    ticks_y: Mapping[float, str],
    label_x: str,
    label_y: str,
    styles: Sequence[str] = ("line-a thick", "line-b thick", "line-c thick"),
) -> None:
    """Draw curves with their axes, and the name of each at its end."""
    left, top, right, bottom = axes.box
    for x, name in ticks_x.items():
        place = axes.at(x, axes.y[0])[0]
        d.line([(place, top), (place, bottom)], "line-faint")
        d.text(place, bottom + 17, name, "dim", size=12)
    for y, name in ticks_y.items():
        place = axes.at(axes.x[0], y)[1]
        d.line([(left, place), (right, place)], "line-faint")
        d.text(left - 6, place + 4, name, "dim", "end", size=12)
    d.line([(left, top), (left, bottom), (right, bottom)], "line")
    d.text((left + right) / 2, bottom + 36, label_x, "dim", size=12)
    d.text(left - 6, top - 10, label_y, "dim", "start", size=12)
    for (name, (xs, ys)), style in zip(curves.items(), styles, strict=False):
        points = [axes.at(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]
        d.line(points, style)
        d.text(right + 8, points[-1][1] + 4, name, anchor="start", size=12)


def box(d: Drawing, x: float, y: float, words: Sequence[str], css: str = "pale", width: float = 96) -> None:
    """Draw a box with lines of words around its middle. x and y are its top left."""
    height = 16 * len(words) + 14
    d.rect(x, y, width, height, css, radius=5, opacity=1 if css == "pale" else 0.55)
    d.frame(x, y, width, height, radius=5)
    for number, line in enumerate(words):
        d.text(x + width / 2, y + 22 + 16 * number, line, "ink", size=13 if number == 0 else 12)


def _share(value: float, low: float, high: float, *, log: bool) -> float:
    if log:
        value, low, high = (float(np.log(part)) for part in (value, low, high))
    return (value - low) / (high - low)

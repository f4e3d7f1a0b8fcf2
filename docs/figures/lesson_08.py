"""Figures of the lesson of 08_positions."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, heat_map, plot, short
from docs.figures.drawing import Drawing
from tests.modules.lessons import K, Q


def turned(pair: np.ndarray, angle: float) -> np.ndarray:
    """An arrow, turned."""
    (a, b), c, s = pair, np.cos(angle), np.sin(angle)
    return np.array([a * c - b * s, a * s + b * c])


def rotation() -> str:
    """The first pair of the query of cat and of the key of sat, at two places in the text."""
    d = Drawing(760, 320, "RoPE turns both arrows; the angle between them is what counts")
    unit = 58
    for number, (title, shift) in enumerate(
        {"no positions": None, "positions 1 and 2": 0, "positions 2 and 3": 1}.items()
    ):
        middle = (125 + 250 * number, 180.0)
        query, key = Q[1, :2], K[2, :2]
        if shift is not None:
            query, key = turned(query, 1 + shift), turned(key, 2 + shift)
        d.text(middle[0], 28, title)
        d.line([(middle[0] - 115, middle[1]), (middle[0] + 115, middle[1])], "line-faint")
        d.line([(middle[0], 60), (middle[0], 300)], "line-faint")
        for arrow, name, css in ((query, "query of cat", "line-b thick"), (key, "key of sat", "line-a thick")):
            end = (middle[0] + unit * arrow[0], middle[1] - unit * arrow[1])
            d.line([middle, end], css, arrow=True)
            if shift is None:
                d.text(end[0], end[1] - 9, name, "dim", size=12)
        d.text(middle[0], 312, f"product {short(float(query @ key))}", size=14)
    return d.svg()


def sinusoids(n: int, width: int) -> np.ndarray:
    """Sinusoidal positions: sine and cosine of each pair side by side."""
    angles = np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    return np.asarray(np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, width))


def clock_hands() -> str:
    """The sines of the pairs of a vector of eight features, over forty positions."""
    d = Drawing(720, 300, "Fast pairs and slow pairs")
    places = np.linspace(0, 40, 401)  # between the positions, too: a hand moves smoothly
    curves = {f"pair {pair}": (places, np.sin(places * 10000.0 ** (-2 * pair / 8))) for pair in range(3)}
    plot(
        d,
        Axes((60, 40, 600, 240), (0, 40), (-1, 1)),
        curves,
        ticks_x={0: "0", 10: "10", 20: "20", 30: "30", 40: "40"},
        ticks_y={-1: "−1", 0: "0", 1: "1"},
        label_x="position",
        label_y="sine of each pair, 8 features",
        styles=("line-b", "line-a thick", "line-c thick"),
    )
    return d.svg()


def bias() -> str:
    """The bias of ALiBi in a causal model, for a steep and for a flat slope."""
    d = Drawing(640, 250, "What ALiBi adds to the scores")
    distance = np.arange(5)[:, None] - np.arange(5)
    for number, slope in enumerate((0.5, 0.0625)):
        table = np.where(distance >= 0, -slope * distance, 0.0)
        x = 60 + 300 * number
        heat_map(
            d, x, 60, table, (), [str(j) for j in range(5)], title=f"slope {short(slope)}", cell=(50, 32), decimals=4
        )
        for i in range(5):
            d.text(x - 8, 60 + 32 * (i + 0.5) + 4, str(i), "dim", "end", 12)
            for j in range(i + 1, 5):
                d.rect(x + 50 * j + 1, 60 + 32 * i + 1, 48, 30, "pale")
    d.text(330, 240, "grey: blocked by the causal mask, not by the bias", "dim", size=12)
    return d.svg()


FIGURES = {"rotation": rotation, "clock-hands": clock_hands, "bias": bias}

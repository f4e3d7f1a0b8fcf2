"""Figures of the page "Before you start", which is in the folder of 01_softmax."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import box, short
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS, K, Q, weights

QUERY = np.array([2, 1])
ARROWS = {"A": (2, 1), "B": (1, 2), "C": (-1, 2), "D": (-2, -1), "E": (2, 4)}


def angle(key: tuple[float, float]) -> float:
    """The angle between the query and a key, in degrees."""
    lengths = np.linalg.norm(QUERY) * np.linalg.norm(key)
    return float(np.degrees(np.arccos(np.clip(QUERY @ key / lengths, -1, 1))))


def angles() -> str:
    """A query and five keys as arrows, with their dot products."""
    d = Drawing(780, 330, "A dot product depends on the angle and on the lengths")
    middle, unit = (200.0, 235.0), 48
    for step in range(-3, 4):
        d.line([(middle[0] + unit * step, 30), (middle[0] + unit * step, 310)], "line-faint")
    for step in range(-1, 5):
        d.line([(30, middle[1] - unit * step), (370, middle[1] - unit * step)], "line-faint")
    for name, (x, y) in ARROWS.items():
        end = (middle[0] + unit * x, middle[1] - unit * y)
        if name != "A":  # it lies under the query
            d.line([middle, end], "line-a thick", arrow=True)
        d.text(end[0] + (16 if x > 0 else -14), end[1] + (16 if name == "A" else -6), name, size=15)
    end = (middle[0] + unit * QUERY[0], middle[1] - unit * QUERY[1])
    d.line([middle, end], "line-b thick", arrow=True)
    d.text(end[0] + 30, end[1] - 8, "query", size=14)
    d.text(730, 52, "dot product with the query (2, 1)", anchor="end", size=14)
    for number, (name, key) in enumerate(ARROWS.items()):
        y = 88 + 44 * number
        d.text(420, y, f"{name} ({short(key[0])}, {short(key[1])})", anchor="start")
        d.text(560, y, f"{angle(key):.0f}°", "dim", "end")
        d.text(660, y, f"length {np.linalg.norm(key):.2f}", "dim", "end")
        d.text(730, y, short(float(QUERY @ key)), anchor="end", size=17)
    return d.svg()


def bottleneck() -> str:
    """A text squeezed into one state, and a text that can be looked at."""
    d = Drawing(760, 300, "One state for the whole text, or a look at every word")
    d.text(20, 26, "before: one state is passed on", anchor="start")
    for number, token in enumerate(TOKENS):
        x = 20 + 110 * number
        d.text(x + 40, 122, token, "dim")
        d.line([(x + 40, 106), (x + 40, 84)], arrow=True)
        d.rect(x, 46, 80, 36, "b", 0.25 + 0.1 * number, 5)
        d.text(x + 40, 69, "state", size=13)
        d.line([(x + 82, 64), (x + 108, 64)], "line-b", arrow=True)
    box(d, 572, 40, ["next word", "knows one state"], width=150)
    d.text(20, 166, "attention: every word stays within reach", anchor="start")
    share = weights(Q, K)[4]
    for number, token in enumerate(TOKENS):
        x = 20 + 110 * number
        d.rect(x, 196, 80, 36, "a", float(share[number] / share.max()) * 0.8, 5)
        d.text(x + 40, 219, token, size=13)
        d.line([(x + 40, 236), (x + 40, 264), (640, 264), (640, 246)], "line-a", arrow=number == 4)
    box(d, 572, 192, ["next word", "looks at all five"], width=150)
    return d.svg()


def look_up() -> str:
    """A dictionary finds one entry; attention takes a share of every entry."""
    d = Drawing(720, 250, "An ordinary look-up and a soft one")
    share = weights(Q, K)[0]
    for left, title in ((20, "dictionary: one key is equal"), (380, "attention: every key matches a little")):
        d.text(left + 150, 26, title)
        for number, token in enumerate(TOKENS):
            y = 48 + 36 * number
            part = float(share[number]) if left > 100 else float(token == "cat")
            d.rect(left + 90, y, 60, 28, "pale", radius=4)
            d.text(left + 120, y + 19, token, size=13)
            if part:
                d.line([(left + 52, 132), (left + 88, y + 14)], "line-a" + (" thick" if part > 0.25 else ""))
            d.text(left + 176, y + 19, short(part), size=13)
            d.rect(left + 204, y + 4, 110 * part / (1 if left < 100 else 0.4), 20, "a")
    d.text(46, 137, "“cat”", size=13)
    d.text(404, 137, "query", size=13)
    return d.svg()


FIGURES = {"angles": angles, "bottleneck": bottleneck, "look-up": look_up}

"""Figures of the lesson of 02_loop_attention."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, heat_map, plot, short
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS, K, Q, V, weights
from tests.modules.test_lesson_loop_attention import WORDS, mixed


def pipeline() -> str:
    """The query of The through the formula, row by row."""
    d = Drawing(760, 330, "The query of The, from scores to output")
    scores, share = Q[0] @ K.T, weights(Q, K)[0]
    rows = {"scores": scores, "divided by 2": scores / 2, "weights": share}
    for number, (name, values) in enumerate(rows.items()):
        y = 52 + 76 * number
        names = TOKENS if number == 0 else ()
        heat_map(d, 150, y, [values], [name], names, cell=(66, 34), decimals=4)
        if number:
            d.line([(315, y - 38), (315, y - 6)], "line-b", arrow=True)
    d.text(330, 108, "÷ √4", "dim", "start", 13)
    d.text(330, 184, "softmax", "dim", "start", 13)
    heat_map(d, 560, 52, V, (), (), cell=(40, 30), decimals=1, css="c", largest=1.6, title="values")
    d.line([(484, 221), (640, 221), (640, 246)], "line-b", arrow=True)
    d.line([(640, 206), (640, 219)], "line-b")
    d.text(630, 239, "weights times values", "dim", "end", 13)
    heat_map(d, 505, 256, [share @ V], ["output"], (), cell=(60, 34), decimals=4, css="c", largest=0.8)
    return d.svg()


def larger_share(d_k: np.ndarray, *, scaled: bool) -> np.ndarray:
    """The weight of the larger of two scores that differ by the typical size of a score."""
    gap = np.ones_like(d_k, dtype=float) if scaled else np.sqrt(d_k)
    return np.asarray(1 / (1 + np.exp(-gap)))


def scaling() -> str:
    """What the width of the vectors does to a softmax, with the scale and without."""
    d = Drawing(640, 300, "Without a scale, wide vectors make the softmax certain")
    widths = np.arange(1, 129)
    axes = Axes((60, 40, 470, 240), (1, 128), (0.5, 1.0))
    curves = {
        "not scaled": (widths, larger_share(widths, scaled=False)),
        "divided by √d": (widths, larger_share(widths, scaled=True)),
    }
    plot(
        d,
        axes,
        curves,
        ticks_x={1: "1", 16: "16", 64: "64", 128: "128"},
        ticks_y={0.5: ".5", 0.75: ".75", 1.0: "1"},
        label_x="width of queries and keys",
        label_y="larger weight of two scores that are one typical score apart",
        styles=("line-b thick", "line-a thick"),
    )
    return d.svg()


def bank() -> str:
    """The word bank moves towards river or towards money."""
    d = Drawing(520, 330, "Bank takes from river, or from money")
    axes = Axes((60, 30, 440, 280), (0, 2.4), (0, 2.2))
    d.line([(60, 30), (60, 280), (440, 280)])
    d.text(250, 316, "water", "dim")
    d.text(66, 22, "money", "dim", "start")
    start = axes.at(*WORDS["bank"])
    for other in ("river", "money"):
        end = mixed(other)
        place, found = axes.at(*WORDS[other]), axes.at(*end)
        d.dot(*place, "a", 5)
        d.text(place[0] + 10, place[1] - 8, other, anchor="start", size=13)
        d.line([start, found], "line-b thick", arrow=True)
        words = f"with {other}: ({short(end[0], 2)}, {short(end[1], 2)})"
        d.text(found[0], found[1] + (-12 if other == "money" else 20), words, "dim", "start", 12)
    d.dot(*start, "b", 6)
    d.text(start[0] + 12, start[1] - 8, "bank", anchor="start", size=13)
    return d.svg()


FIGURES = {"bank": bank, "pipeline": pipeline, "scaling": scaling}

"""Figures of the lesson of 01_softmax."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import bars
from docs.figures.drawing import Drawing
from tests.modules.lessons import SCORES, TOKENS, softmax


def steps() -> str:
    """Scores, their exponentials, and the weights."""
    d = Drawing(760, 226, "Softmax in two steps")
    panels = {"scores": SCORES, "exponentials": np.exp(SCORES), "weights, sum 1": softmax(SCORES)}
    for number, (title, values) in enumerate(panels.items()):
        bars(d, 30 + 250 * number, 190, values, TOKENS, unit=130 / max(values), title=title)
        if number:
            d.line([(30 + 250 * number - 26, 118), (30 + 250 * number - 8, 118)], "line-b thick", arrow=True)
    d.text(267, 60, "*e*ˣ", size=14)
    d.text(517, 60, f"÷ {np.exp(SCORES).sum():.4f}", size=13)
    return d.svg()


def temperatures() -> str:
    """The weights of one row at four temperatures."""
    d = Drawing(900, 210, "The same scores at four temperatures")
    for number, temperature in enumerate((0.5, 1, 2, 100)):
        values = softmax(SCORES / temperature)
        bars(d, 20 + 222 * number, 178, values, TOKENS, unit=200, step=42, title=f"temperature {temperature}")
    return d.svg()


FIGURES = {"steps": steps, "temperatures": temperatures}

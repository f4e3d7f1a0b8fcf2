"""Figures of the lesson of 04_masks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from docs.figures.charts import heat_map
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS, K, Q, weights

PADDED = ("The", "cat", "sat", "(pad)", "(pad)")


def grid(d: Drawing, x: float, y: float, mask: np.ndarray, top: Sequence[str], left: Sequence[str], title: str) -> None:
    """Draw a mask: filled where a query may look."""
    size = 34
    d.text(x + size * 2.5, y - 34, title)
    for j, name in enumerate(top):
        d.text(x + size * (j + 0.5), y - 9, name, "dim", size=11)
    for i, name in enumerate(left):
        d.text(x - 7, y + size * (i + 0.5) + 4, name, "dim", "end", size=11)
    for i, row in enumerate(mask):
        for j, allowed in enumerate(row):
            d.rect(x + size * j + 1, y + size * i + 1, size - 2, size - 2, "a" if allowed else "pale", radius=3)
            d.text(
                x + size * (j + 0.5), y + size * (i + 0.5) + 4, str(int(allowed)), "ink" if allowed else "dim", size=12
            )


def three_masks() -> str:
    """Causal AND padding is what a training batch needs."""
    d = Drawing(800, 270, "A causal mask and a padding mask, combined")
    causal, padding = np.tri(5), np.ones((5, 5)) * np.array([1, 1, 1, 0, 0])
    grid(d, 60, 70, causal, PADDED, PADDED, "causal")
    grid(d, 330, 70, padding, PADDED, (), "padding")
    grid(d, 600, 70, causal * padding, PADDED, (), "both")
    d.text(282, 160, "and", size=15)
    d.text(552, 160, "=", size=18)
    return d.svg()


def causal_weights() -> str:
    """The weight of blocked keys goes to the allowed ones."""
    d = Drawing(640, 260, "Weights without a mask, and with the causal mask")
    heat_map(d, 60, 70, weights(Q, K), TOKENS, TOKENS, title="no mask", largest=1)
    heat_map(d, 380, 70, weights(Q, K, np.tri(5)), (), TOKENS, title="causal mask", largest=1)
    d.line([(304, 145), (368, 145)], "line-b", arrow=True)
    d.text(336, 245, "every row still sums to 1", "dim", size=13)
    return d.svg()


FIGURES = {"three-masks": three_masks, "causal-weights": causal_weights}

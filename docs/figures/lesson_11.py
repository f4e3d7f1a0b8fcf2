"""Figures of the lesson of 11_efficient_attention."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, heat_map, plot
from docs.figures.drawing import Drawing
from docs.figures.lesson_04 import grid
from tests.modules.lessons import TOKENS, K, Q, weights


def window() -> str:
    """What a causal window of two allows, and the weights in it."""
    d = Drawing(640, 270, "A causal window of 2")
    place = np.arange(5)
    mask = np.tri(5) * (place[:, None] - place < 2)
    grid(d, 60, 70, mask, TOKENS, TOKENS, "may see")
    heat_map(d, 350, 70, weights(Q, K, mask), (), TOKENS, title="weights", largest=1, cell=(46, 34))
    d.line([(246, 155), (338, 155)], "line-b", arrow=True)
    return d.svg()


def sharpness() -> str:
    """The weights of full attention and of linear attention for the same sentence."""
    d = Drawing(640, 260, "Full attention, and linear attention")
    features = (Q + 1.0) @ (K + 1.0).T  # no entry is negative, so the feature map adds 1
    heat_map(d, 60, 70, weights(Q, K), TOKENS, TOKENS, title="full", largest=0.5)
    linear = features / features.sum(axis=1, keepdims=True)
    heat_map(d, 350, 70, linear, (), TOKENS, title="linear", largest=0.5)
    d.text(320, 248, "the products of features are more even than exponentials", "dim", size=12)
    return d.svg()


def work() -> str:
    """Multiplications against the number of tokens, d = 32 and a window of 128."""
    d = Drawing(720, 300, "Multiplications of the two products, d = 32")
    n = np.geomspace(256, 65536, 40)
    curves = {"full": (n, 2 * n * n * 32), "window of 128": (n, 2 * n * 128 * 32), "linear": (n, 2 * n * 32 * 32)}
    plot(
        d,
        Axes((80, 40, 570, 240), (256, 65536), (1e5, 1e12), log=True),
        curves,
        ticks_x={256: "256", 2048: "2048", 16384: "16384", 65536: "65536"},
        ticks_y={1e6: "10⁶", 1e9: "10⁹", 1e12: "10¹²"},
        label_x="tokens",
        label_y="multiplications",
        styles=("line-b thick", "line-a thick", "line-c thick"),
    )
    return d.svg()


FIGURES = {"window": window, "sharpness": sharpness, "work": work}

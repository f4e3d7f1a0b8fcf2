"""Figures of the lesson of 05_torch_attention."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, box, heat_map, plot
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS, K, Q, weights
from tests.modules.test_lesson_torch_attention import learning


def backward() -> str:
    """The computation graph: forward from left to right, gradients from right to left."""
    d = Drawing(800, 300, "Forward along the grey arrows, gradients back along the orange ones")
    boxes = {
        "Q": (20, 40, ["Q"]),
        "K": (20, 120, ["K"]),
        "V": (20, 220, ["V"]),
        "S": (190, 80, ["S", "scaled scores"]),
        "W": (400, 80, ["W", "weights"]),
        "O": (590, 140, ["O", "output"]),
        "L": (590, 240, ["loss"]),
    }
    for x, y, words in boxes.values():
        box(d, x, y, words, width=70 if len(words) == 1 else 130)
    forward = [
        [(90, 50), (188, 92)],
        [(90, 132), (188, 114)],
        [(320, 96), (398, 96)],
        [(530, 96), (620, 138)],
        [(90, 230), (588, 160)],
        [(630, 187), (630, 238)],
    ]
    back = [
        ([(188, 102), (92, 62)], "dQ", (140, 96)),
        ([(188, 122), (92, 144)], "dK", (150, 152)),
        ([(398, 114), (322, 114)], "dS", (360, 132)),
        ([(600, 138), (532, 112)], "dW", (556, 140)),
        ([(588, 174), (92, 244)], "dV", (340, 228)),
        ([(644, 238), (644, 189)], "dO", (664, 218)),
    ]
    for points in forward:
        d.line(points, arrow=True)
    for points, name, place in back:
        d.line(points, "line-b", arrow=True)
        d.text(*place, name, size=13)
    return d.svg()


def saturation() -> str:
    """The weight of the first of two keys, and how much it still changes."""
    d = Drawing(680, 300, "A softmax that is sure hardly changes any more")
    gap = np.linspace(0, 16, 65)
    weight = 1 / (1 + np.exp(-gap))
    curves = {"weight": (gap, weight), "slope": (gap, weight * (1 - weight))}
    plot(
        d,
        Axes((60, 40, 520, 240), (0, 16), (0, 1)),
        curves,
        ticks_x={0: "0", 4: "4", 8: "8", 12: "12", 16: "16"},
        ticks_y={0: "0", 0.25: ".25", 0.5: ".5", 1: "1"},
        label_x="difference of the two scores",
        label_y="the weight of the first key, and its slope",
        styles=("line-a thick", "line-b thick"),
    )
    return d.svg()


def look_back() -> str:
    """The map of the sentence before and after it has learned to look at the token before."""
    d = Drawing(660, 260, "A map before training, and a trained one")
    done = learning()
    heat_map(d, 60, 70, weights(Q, K), TOKENS, TOKENS, title="before training", largest=1)
    heat_map(d, 400, 70, weights(done.q, done.k), (), TOKENS, title="after 200 steps", largest=1)
    d.line([(300, 145), (390, 145)], "line-b", arrow=True)
    d.text(345, 132, "training", "dim", size=12)
    d.text(330, 245, "each token learns to look at the one before it", "dim", size=13)
    return d.svg()


FIGURES = {"look-back": look_back, "backward": backward, "saturation": saturation}

"""Figures of the lesson of 12_transformer."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import bars, box
from docs.figures.drawing import Drawing
from tests.modules.lessons import SCORES, TOKENS, softmax


def block() -> str:
    """The residual stream, and the two branches that add to it."""
    d = Drawing(800, 220, "A block adds to the stream and erases nothing")
    d.line([(20, 170), (780, 170)], "line-a thick", arrow=True)
    d.text(60, 196, "residual stream", "dim", size=13)
    for left, norm, name, what in (
        (110, "norm1", "attention", "mixes tokens"),
        (450, "norm2", "feed-forward", "each token"),
    ):
        box(d, left, 90, [norm], width=80)
        box(d, left + 110, 40, [name, what], "b", width=130)
        d.line([(left + 40, 170), (left + 40, 122)], arrow=True)
        d.line([(left + 40, 88), (left + 40, 64), (left + 108, 64)], arrow=True)
        d.line([(left + 242, 64), (left + 280, 64), (left + 280, 158)], "line-b", arrow=True)
        d.dot(left + 280, 170, "b", 11)
        d.text(left + 280, 175, "+", size=16)
    return d.svg()


def choices() -> str:
    """The next token after The: all tokens, top-k 2, and top-p 0.6."""
    d = Drawing(740, 210, "Choosing the next token")
    share = softmax(SCORES)
    order = np.argsort(-share, kind="stable")
    top_k = np.isin(np.arange(5), order[:2])
    reached = np.cumsum(share[order])
    top_p = np.isin(np.arange(5), order[: int(np.argmax(reached >= 0.6)) + 1])
    cold = softmax(SCORES / 0.5)
    panels = {
        "temperature 1": share,
        "temperature 0.5": cold,
        "top-k 2, or top-p 0.6": share * top_k / share[top_k].sum(),
    }
    assert (top_k == top_p).all()
    for number, (title, values) in enumerate(panels.items()):
        bars(d, 24 + 242 * number, 178, values, TOKENS, unit=190, step=44, title=title)
    return d.svg()


FIGURES = {"block": block, "choices": choices}

"""Figures of the lesson of 12_transformer."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import bars, box
from docs.figures.drawing import Drawing
from docs.figures.trained import SENTENCE, maps, shares_back
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


def stack() -> str:
    """The whole model, from ids to the next id."""
    d = Drawing(640, 480, "The whole model: ids at the bottom, the next token at the top")
    middle = 230
    steps = (
        ("token ids", 440, "pale"),
        ("embeddings", 386, "a"),
        ("norm", 122, "pale"),
        ("head", 76, "c"),
        ("next token", 16, "pale"),
    )
    d.line([(middle, 438), (middle, 52)], "line-a thick", arrow=True)
    for name, y, css in steps:
        d.rect(middle - 60, y, 120, 30, "paper", radius=5)  # so that the stream does not show through
        box(d, middle - 60, y, [name], css, width=120)
    d.text(middle + 76, 406, "one for the token + one for its place", "dim", "start", 12)
    d.frame(middle - 190, 164, 280, 208, "line-b dashed", 8)
    d.text(middle + 102, 272, "a block, num_layers times", "dim", "start", 12)
    for top, parts in ((270, ["attention", "of norm1(x)"]), (176, ["feed-forward", "of norm2(x)"])):
        box(d, middle - 176, top + 8, parts, "b", width=120)
        d.line([(middle, top + 84), (middle - 116, top + 84), (middle - 116, top + 58)], arrow=True)
        d.line([(middle - 116, top + 6), (middle - 116, top), (middle - 16, top)], "line-b", arrow=True)
        d.dot(middle, top, "b", 11)
        d.text(middle, top + 5, "+", size=16)
    d.text(middle + 76, 96, "a logit for each token of the vocabulary", "dim", "start", 12)
    d.text(middle + 76, 64, "softmax, then one is drawn", "dim", "start", 12)
    d.line([(middle + 62, 31), (600, 31), (600, 455), (middle + 64, 455)], "line", arrow=True)
    d.text(592, 440, "and again, one token longer", "dim", "end", 12)
    return d.svg()


def trained() -> str:
    """What the two heads of a trained model look at."""
    d = Drawing(720, 390, "What two heads have learned to look at")
    letters = ["␣" if one == " " else one for one in SENTENCE]
    cell = 18
    for head, (weights, css) in enumerate(zip(maps(), "ab", strict=True)):
        left, top = 50 + 350 * head, 66
        d.text(left + cell * 8, 26, f"head {head}")
        for place, letter in enumerate(letters):
            d.text(left + cell * (place + 0.5), top - 8, letter, "dim", size=12)
            d.text(left - 8, top + cell * (place + 0.5) + 4, letter, "dim", "end", 12)
        for i in range(16):
            for j in range(i + 1):
                d.rect(left + cell * j, top + cell * i, cell - 1, cell - 1, "pale")
                if weights[i, j] > 0:
                    d.rect(left + cell * j, top + cell * i, cell - 1, cell - 1, css, weights[i, j])
        back = max(range(1, 4), key=lambda steps: shares_back(weights, steps))
        where = {1: "the character before", 2: "the character two back"}[back]
        d.text(left + cell * 8, 376, f"{100 * shares_back(weights, back):.0f} % to {where}", "dim", size=13)
    return d.svg()


FIGURES = {"block": block, "stack": stack, "choices": choices, "trained": trained}

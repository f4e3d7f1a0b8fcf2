"""Figures of the lesson of 06_multi_head_attention."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import bars, heat_map, short
from docs.figures.drawing import Drawing
from tests.modules.formulas import bank_looks
from tests.modules.lessons import TOKENS, K, Q, weights

X = np.array([[0, 1, 2, 3], [10, 11, 12, 13]])


def numbers(d: Drawing, x: float, y: float, rows: np.ndarray, colours: list[str], title: str) -> None:
    """Draw a small table. Each column has the colour of its head."""
    d.text(x + 22 * rows.shape[1], y - 12, title, size=13)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            d.rect(x + 44 * j, y + 32 * i, 44, 32, colours[j], 0.5)
            d.frame(x + 44 * j, y + 32 * i, 44, 32, "line-faint")
            d.text(x + 44 * (j + 0.5), y + 32 * i + 21, short(value), size=13)


def split() -> str:
    """Each token is cut into slices; each head has one slice of every token."""
    d = Drawing(800, 210, "Split into heads, and merge again")
    whole = ["a", "a", "b", "b"]
    numbers(d, 80, 70, X, whole, "tokens (2, 4)")
    for number, name in enumerate(("token 0", "token 1")):
        d.text(72, 91 + 32 * number, name, "dim", "end", 12)
    numbers(d, 360, 34, X[:, :2], ["a", "a"], "head 0 (2, 2)")
    numbers(d, 360, 134, X[:, 2:], ["b", "b"], "head 1 (2, 2)")
    numbers(d, 560, 70, X, whole, "merged (2, 4)")
    for y in (66, 166):
        d.line([(262, 102), (352, y)], arrow=True)
        d.line([(452, y), (552, 102)], arrow=True)
    d.text(300, 70, "split", "dim", size=12)
    d.text(508, 70, "merge", "dim", size=12)
    return d.svg()


def two_heads() -> str:
    """The same sentence in one head of width 4, and in two heads of width 2."""
    d = Drawing(880, 250, "One head of width 4, and two heads of width 2")
    heads = {
        "one head": weights(Q, K),
        "head 0 of two": weights(Q[:, :2], K[:, :2]),
        "head 1 of two": weights(Q[:, 2:], K[:, 2:]),
    }
    for number, (title, share) in enumerate(heads.items()):
        names = TOKENS if number == 0 else ()
        heat_map(d, 60 + 275 * number, 70, share, names, TOKENS, title=title, largest=0.6, css="cab"[number])
    return d.svg()


def bank_heads() -> str:
    """What bank takes from river and from money, with one head and with two."""
    d = Drawing(680, 220, "One head cannot choose, two heads find both")
    titles = {"one head": "c", "head 0: water": "a", "head 1: money": "b"}
    for number, ((title, css), share) in enumerate(zip(titles.items(), bank_looks().values(), strict=True)):
        names = ("river", "money", "bank")
        bars(d, 40 + 220 * number, 186, share, names, unit=200, step=56, decimals=2, css=css, title=title)
    return d.svg()


FIGURES = {"bank-heads": bank_heads, "split": split, "two-heads": two_heads}

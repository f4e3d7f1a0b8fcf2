"""Figures of the lesson of 03_attention."""

from __future__ import annotations

from docs.figures.charts import Axes, heat_map, short
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS, K, Q, V, weights
from tests.modules.test_lesson_attention import IT, W_Q, WORD_KEYS, WORD_VALUES, X


def arrays() -> str:
    """The three tables that four lines of array code make."""
    d = Drawing(860, 270, "Scores, weights and output of the whole sentence")
    share = weights(Q, K)
    heat_map(d, 60, 70, Q @ K.T, TOKENS, TOKENS, title="scores (5, 5)", decimals=1)
    heat_map(d, 345, 70, share, (), TOKENS, title="weights (5, 5)", largest=0.5)
    heat_map(d, 640, 70, share @ V, (), (), title="output (5, 4)", css="c", largest=0.6)
    d.line([(294, 145), (338, 145)], "line-b", arrow=True)
    d.line([(580, 145), (633, 145)], "line-b", arrow=True)
    d.text(316, 132, "÷ 2", "dim", size=12)
    d.text(316, 166, "softmax", "dim", size=12)
    d.text(606, 132, "times V", "dim", size=12)
    d.text(430, 250, "one row for each query, one column for each key", "dim", size=13)
    return d.svg()


def projection() -> str:
    """Two tokens times a matrix are two queries."""
    d = Drawing(640, 190, "Tokens times a matrix are queries")
    heat_map(d, 60, 62, X, ("cat", "sat"), (), title="X (2, 3)", cell=(50, 34))
    heat_map(d, 290, 48, W_Q, (), (), title="W_q_ (3, 2)", cell=(50, 34), css="b")
    heat_map(d, 480, 62, X @ W_Q, (), (), title="Q (2, 2)", cell=(50, 34), css="c")
    d.text(245, 104, "times", "dim", size=13)
    d.text(435, 104, "=", size=18)
    d.text(320, 178, "the query of cat: 1 times the first row, 0 times the second, 2 times the third", "dim", size=12)
    return d.svg()


def hull() -> str:
    """An output lies inside the shape that the values span."""
    d = Drawing(560, 330, "The output of it lies between the three values")
    axes = Axes((50, 30, 450, 280), (-1.5, 2.5), (-0.3, 2))
    places = [axes.at(float(x), float(y)) for x, y in WORD_VALUES]
    d.line([*places, places[0]], "line-a")
    share = weights(IT, WORD_KEYS)[0]
    for name, place, part in zip(("animal", "street", "because"), places, share, strict=True):
        d.dot(*place, "a", 5)
        left = name == "because"
        d.text(place[0] + (-10 if left else 10), place[1] + 18, name, anchor="end" if left else "start", size=13)
        d.text(
            place[0] + (-10 if left else 10),
            place[1] + 34,
            short(float(part), 2),
            "dim",
            "end" if left else "start",
            12,
        )
    middle = axes.at(*(float(x) for x in WORD_VALUES.mean(axis=0)))
    d.dot(*middle, "c", 4)
    d.text(middle[0], middle[1] - 10, "equal weights", "dim", size=12)
    end = axes.at(*(float(x) for x in share @ WORD_VALUES))
    d.dot(*end, "b", 4)
    d.text(end[0] - 6, end[1] - 14, "output", anchor="end", size=13)
    for x in (-1, 0, 1, 2):
        d.text(axes.at(x, 0)[0], 300, short(x), "dim", size=12)
    for y in (0, 1, 2):
        d.text(36, axes.at(0, y)[1] + 4, short(y), "dim", size=12)
    d.line([(50, 30), (50, 280), (450, 280)])
    return d.svg()


FIGURES = {"arrays": arrays, "projection": projection, "hull": hull}

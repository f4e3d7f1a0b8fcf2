"""Figures of the course in examples/tokens, drawn from its own solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from docs.figures.charts import Axes, bars, plot
from docs.figures.drawing import Drawing
from grader.course.course import read_course
from grader.course.loading import load_reference
from tests.conftest import ROOT

COURSE = ROOT / "examples" / "tokens"
BANANA = "banana bandana"
SHELLS = "she sells sea shells on the sea shore. the shells that she sells are sea shells, she is sure. " * 4


def solution(module: str) -> Any:
    """Return the solution of a module as a Python module."""
    course = read_course(COURSE)
    return load_reference(course, course.module(module))


def characters() -> str:
    """Four characters, and the bytes of each."""
    d = Drawing(700, 170, "One to four bytes for a character")
    of = solution("01_bytes")
    x = 30.0
    for character, name in (("n", "n"), ("é", "é"), ("木", "木 (tree)"), ("🌳", "🌳 (tree)")):
        ids = of.text_to_ids(character)
        d.text(x + 29 * len(ids), 40, name, size=20)
        for at, one in enumerate(ids):
            cell(d, x + 58 * at, 60, str(one), "b" if at else "a")
        x += 58 * len(ids) + 26
    d.rect(30, 128, 16, 16, "a", 0.85)
    d.text(54, 141, "begins a character", "dim", "start", 12)
    d.rect(220, 128, 16, 16, "b", 0.85)
    d.text(244, 141, "goes on with it: 128 to 191", "dim", "start", 12)
    return d.svg()


def cut() -> str:
    """The text né! with room for 1, 2 and 3 bytes."""
    d = Drawing(560, 206, "A cut never goes through a character")
    of = solution("01_bytes")
    ids = of.text_to_ids("né!")
    for row, limit in enumerate((1, 2, 3)):
        y = 44 + 54 * row
        left = len(of.cut_to_fit(ids, limit))
        d.text(120, y + 26, f"room for {limit}", "dim", "end", 13)
        for at, one in enumerate(ids):
            cell(d, 140 + 58 * at, y, str(one), "a" if at < left else "pale")
        d.line([(140 + 58 * limit - 2, y - 6), (140 + 58 * limit - 2, y + 46)], "line-b thick dashed")
        d.text(390, y + 26, repr(of.ids_to_text(ids[:left])).strip("'") + " is left", "ink", "start", 13)
    for place, name in ((0.5, "n"), (2, "é"), (3.5, "!")):
        d.text(138 + 58 * place, 30, name, size=16)
    return d.svg()


def counts() -> str:
    """How often each pair of banana bandana comes, at each of the three counts."""
    d = Drawing(560, 210, "The pairs of the lesson's text")
    of = solution("02_pairs")
    found = of.count_pairs(list(BANANA.encode()))
    ranked = sorted(found, key=lambda pair: (-found[pair], pair))
    names = ["".join(spelled(one, []) for one in pair) for pair in ranked]
    bars(d, 40, 178, [found[pair] for pair in ranked], names, unit=32, step=70)
    return d.svg()


def merges() -> str:
    """The text before the first merge and after each one."""
    d = Drawing(760, 250, "Each merge makes the text shorter")
    of = solution("02_pairs")
    learned = of.train(BANANA, 10)
    ids = list(BANANA.encode())
    for step in range(len(learned) + 1):
        y = 20 + 52 * step
        d.text(96, y + 24, f"{len(ids)} ids", "dim", "end", 13)
        x = 110.0
        for one in ids:
            words = spelled(one, learned)
            width = 44 * len(words)
            d.rect(x, y, width - 4, 36, "abc"[one - 256] if one > 255 else "pale", 0.85 if one > 255 else 1, 4)
            d.text(x + width / 2 - 2, y + 23, words, size=14)
            x += width
        if step < len(learned):
            ids = of.merge(ids, learned[step], 256 + step)
    for at, pair in enumerate(learned):
        d.rect(110 + 160 * at, 228, 12, 12, "abc"[at], 0.85)
        words = f"{256 + at} is {' + '.join(spelled(one, learned) for one in pair)}"
        d.text(128 + 160 * at, 239, words, "dim", "start", 12)
    return d.svg()


def shorter() -> str:
    """How many ids a longer text has after each merge."""
    d = Drawing(660, 270, "More merges, fewer ids, and each new merge saves less")
    of = solution("02_pairs")
    ids = list(SHELLS.encode())
    lengths = [len(ids)]
    for new, pair in enumerate(of.train(SHELLS, 30), 256):
        ids = of.merge(ids, pair, new)
        lengths.append(len(ids))
    number = np.arange(len(lengths))
    plot(
        d,
        Axes((70, 30, 560, 210), (0, 30), (0, 400)),
        {"": (number, np.array(lengths))},
        ticks_x={tick: str(tick) for tick in (0, 10, 20, 30)},
        ticks_y={tick: str(tick) for tick in (0, 100, 200, 300, 400)},
        label_x="merges",
        label_y="ids",
        styles=("line-a thick",),
    )
    return d.svg()


def spelled(one: int, learned: Sequence[tuple[int, int]]) -> str:
    """Return the text that an id stands for; a space can be seen."""
    if one < 256:
        return "␣" if one == 32 else chr(one)
    return "".join(spelled(part, learned) for part in learned[one - 256])


def cell(d: Drawing, x: float, y: float, words: str, css: str) -> None:
    d.rect(x, y, 54, 40, css, 1 if css == "pale" else 0.85, 4)
    d.text(x + 27, y + 25, words, "dim" if css == "pale" else "ink", size=14)


FIGURES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "01_bytes": {"characters": characters, "cut": cut},
    "02_pairs": {"counts": counts, "merges": merges, "shorter": shorter},
}


def all_figures() -> dict[str, str]:
    """Return the text of every figure, by its path in the repository."""
    return {
        f"examples/tokens/modules/{module}/{name}.svg": draw()
        for module, figures in FIGURES.items()
        for name, draw in figures.items()
    }

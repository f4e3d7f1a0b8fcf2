"""Figures of the lesson of 13_triton_flash."""

from __future__ import annotations

import math

import numpy as np

from docs.figures.charts import Axes, bars, plot
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS
from tests.modules.test_lesson_triton_flash import SCORES, measured, softmax_with

BLOCK = 2


def programs() -> str:
    """The grid of five tokens in tiles of two, and the tiles that each program reads with is_causal."""
    d = Drawing(760, 330, "Six programs: three tiles of queries for each of two heads")
    tiles = math.ceil(len(TOKENS) / BLOCK)
    size, top = 36, 70
    for head, left in enumerate((70, 420)):
        d.text(left + size * 3, 24, f"head {head}", size=14)
        for j, name in enumerate([*TOKENS, "?"]):
            d.text(left + size * (j + 0.5), top - 10, name, "dim", size=12)
        for i, name in enumerate(TOKENS):
            d.text(left - 8, top + size * (i + 0.5) + 4, name, "dim", "end", 12)
        for i in range(tiles * BLOCK):
            for j in range(tiles * BLOCK):
                missing = max(i, j) >= len(TOKENS)
                read = j < (i // BLOCK + 1) * BLOCK
                css = "pale" if missing or not read else ("a" if j <= i else "b")
                d.rect(left + size * j + 1, top + size * i + 1, size - 2, size - 2, css, 1 if css == "pale" else 0.7)
                if missing:
                    x, y = left + size * j, top + size * i
                    d.line([(x + 8, y + size - 8), (x + size - 8, y + 8)])
        for tile in range(tiles):
            y = top + size * BLOCK * tile
            d.frame(left, y, size * BLOCK * (tile + 1), size * BLOCK, "line thick")
            d.text(left + size * tiles * BLOCK + 8, y + size + 4, f"program ({tile}, {head})", anchor="start", size=12)
    for at, (css, words) in enumerate({"a": "seen", "b": "computed, then blocked", "pale": "never read"}.items()):
        d.rect(70 + 200 * at, 302, 18, 18, css, 1 if css == "pale" else 0.7)
        d.text(96 + 200 * at, 316, words, anchor="start", size=13)
    d.text(640, 316, "/ does not exist", anchor="start", size=13)
    return d.svg()


def zeros() -> str:
    """The weights of row *on*: five keys, and a sixth that is loaded as zeros and not masked."""
    d = Drawing(680, 250, "A key of zeros takes a share, without an error")
    five, six = softmax_with(SCORES), softmax_with(np.append(SCORES, 0.0))
    bars(d, 30, 215, five, TOKENS, unit=430, title="five keys: on gives", step=50)
    bars(d, 350, 215, six, [*TOKENS, "?"], unit=430, title="and a key of zeros", step=50, css="b")
    return d.svg()


def time() -> str:
    """The measured time of the course's kernel and of the built-in, from docs/gpu.md."""
    d = Drawing(760, 330, "Milliseconds on an H200, 4 heads of width 64")
    table = measured()
    n = list(table)
    names = ("float32", "float32, built-in", "bfloat16", "bfloat16, built-in")
    curves = {name: (n, [table[one][at] for one in n]) for name, at in zip(names, (0, 1, 4, 5), strict=True)}
    plot(
        d,
        Axes((70, 40, 580, 270), (512, 16384), (0.02, 40), log=True),
        curves,
        ticks_x={512: "512", 2048: "2048", 8192: "8192", 16384: "16384"},
        ticks_y={0.1: ".1", 1: "1", 10: "10"},
        label_x="tokens",
        label_y="ms",
        styles=("line-b thick", "line-b thick dashed", "line-a thick", "line-a thick dashed"),
    )
    return d.svg()


FIGURES = {"programs": programs, "zeros": zeros, "time": time}

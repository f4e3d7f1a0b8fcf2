"""Figures of the lesson of 10_flash_attention."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, plot
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS

BLOCK = 2


def tiles() -> str:
    """Causal attention over five tokens in tiles of two: which tiles are computed, and which are skipped."""
    d = Drawing(560, 320, "Tiles of 2 by 2: computed, or skipped")
    size, left, top = 46, 80, 50
    computed = 0
    for j, name in enumerate(TOKENS):
        d.text(left + size * (j + 0.5), top - 10, name, "dim", size=12)
        d.text(left - 10, top + size * (j + 0.5) + 4, name, "dim", "end", 12)
    for i in range(5):
        for j in range(5):
            skipped = j // BLOCK * BLOCK > min(i // BLOCK * BLOCK + BLOCK, 5) - 1
            css = "pale" if skipped else ("a" if j <= i else "b")
            d.rect(left + size * j + 1, top + size * i + 1, size - 2, size - 2, css, 1 if skipped else 0.7)
    for i in range(0, 5, BLOCK):
        for j in range(0, 5, BLOCK):
            box = (left + size * j, top + size * i, size * min(BLOCK, 5 - j), size * min(BLOCK, 5 - i))
            d.frame(*box, "line thick")
            computed += j <= min(i + BLOCK, 5) - 1
    for number, (css, words) in enumerate({"a": "seen", "b": "computed, then blocked", "pale": "skipped"}.items()):
        d.rect(350, 90 + 40 * number, 24, 24, css, 1 if css == "pale" else 0.7)
        d.text(384, 107 + 40 * number, words, anchor="start", size=13)
    d.text(350, 240, f"{computed} of 9 tiles are computed", anchor="start", size=14)
    return d.svg()


def memory() -> str:
    """Numbers in memory: all scores, the queries, and one tile."""
    d = Drawing(720, 300, "The table of scores grows like n², a tile does not grow")
    n = np.geomspace(128, 8192, 40)
    curves = {"all scores": (n, n * n), "queries, d = 64": (n, 64 * n), "one tile, 128 × 128": (n, 0 * n + 128 * 128)}
    plot(
        d,
        Axes((80, 40, 530, 240), (128, 8192), (8192, 1e8), log=True),
        curves,
        ticks_x={128: "128", 1024: "1024", 8192: "8192"},
        ticks_y={1e4: "10⁴", 1e6: "10⁶", 1e8: "10⁸"},
        label_x="tokens",
        label_y="numbers, one head",
        styles=("line-b thick", "line-a thick", "line-c thick"),
    )
    return d.svg()


FIGURES = {"tiles": tiles, "memory": memory}

"""Figures of the lesson of 10_flash_attention."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, plot
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS
from tests.modules.test_lesson_flash_attention import moved_in_tiles, moved_plainly

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


def memories() -> str:
    """What plain attention and attention in tiles move between the large memory and the chip."""
    d = Drawing(800, 330, "Numbers moved between the large memory and the chip, for 8192 tokens of width 64")
    plain, tiled = moved_plainly(), moved_in_tiles()
    for x, width, title, moved in ((20, 450, "plain", plain), (500, 280, "in tiles of 128 queries", tiled)):
        d.text(x + width / 2, 24, title)
        d.rect(x + width / 2 - 110, 44, 220, 46, "b", 0.55, 5)
        d.text(x + width / 2, 72, "chip: computes, small, fast")
        d.rect(x, 226, width, 46, "a", 0.55, 5)
        d.text(x + width / 2, 254, "large memory: holds all tensors, slow")
        step = width / len(moved)
        for number, (name, count) in enumerate(moved.items()):
            place = x + step * (number + 0.5)
            out = name.endswith(" out") or name.startswith("O")
            ends = [(place, 222), (place, 142)]
            style = "line-b thick" if count > 1e7 else "line"
            d.line(ends[::-1] if out else ends, style, arrow=True)
            d.text(place, 114, name.removesuffix(" out").removesuffix(" in"), size=12)
            d.text(place, 131, f"{count / 1e6:.0f}" if count > 1e7 else f"{count / 1e6:.1f}", "dim", size=12)
        d.text(x + width / 2, 304, f"together {sum(moved.values()) / 1e6:.0f} million numbers")
    return d.svg()


FIGURES = {"memories": memories, "tiles": tiles, "memory": memory}

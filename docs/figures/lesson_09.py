"""Figures of the lesson of 09_kv_cache."""

from __future__ import annotations

import numpy as np

from docs.figures.charts import Axes, plot
from docs.figures.drawing import Drawing
from tests.modules.lessons import TOKENS


def steps() -> str:
    """Which tokens are projected at each step, without a cache and with one."""
    d = Drawing(760, 260, "Without a cache, every step projects the whole text again")
    for left, title, cached in ((60, "no cache", False), (430, "with a cache", True)):
        made = 0
        for step in range(1, 6):
            y = 46 + 36 * (step - 1)
            d.text(left - 8, y + 20, f"step {step}", "dim", "end", 12)
            for j in range(step):
                new = not cached or j == step - 1
                made += new
                d.rect(left + 56 * j, y, 52, 30, "b" if new else "a", 0.85 if new else 0.35, 4)
                d.text(left + 56 * j + 26, y + 20, TOKENS[j], size=13)
        d.text(left + 140, 28, title)
        d.text(left + 140, 248, f"{made} tokens projected", size=13)
    return d.svg()


def work() -> str:
    """Scores for a text of n tokens, one head: everything again, or only the new row."""
    d = Drawing(720, 300, "Scores that one head computes while a text is written")
    n = np.geomspace(10, 1000, 40)
    again, cached = n * (n + 1) * (2 * n + 1) / 6, n * (n + 1) / 2
    plot(
        d,
        Axes((80, 40, 540, 240), (10, 1000), (10, 1e9), log=True),
        {"everything again": (n, again), "only the new token": (n, cached)},
        ticks_x={10: "10", 100: "100", 1000: "1000"},
        ticks_y={10: "10", 1e3: "10³", 1e6: "10⁶", 1e9: "10⁹"},
        label_x="tokens in the text",
        label_y="scores",
        styles=("line-b thick", "line-a thick"),
    )
    return d.svg()


FIGURES = {"steps": steps, "work": work}

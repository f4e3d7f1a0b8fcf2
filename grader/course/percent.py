"""The percent format: a script in cells, each beginning with a line `# %%`."""

from __future__ import annotations

import re


def split_cells(pattern: re.Pattern[str], text: str) -> tuple[str, list[tuple[re.Match[str], str]]]:
    """Return what stands before the first cell, and every cell's first line and body."""
    marks = list(pattern.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    cells = [(mark, text[mark.end() : end]) for mark, end in zip(marks, starts[1:], strict=True)]
    return text[: starts[0]], cells

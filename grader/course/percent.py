"""The percent format: a script of cells, each starting with a line `# %%`."""

from __future__ import annotations

import re


def split_cells(pattern: re.Pattern[str], text: str) -> tuple[str, list[tuple[re.Match[str], str]]]:
    """Return the text before the first cell, and the first line and body of each cell."""
    marks = list(pattern.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    cells = [(mark, text[mark.end() : end]) for mark, end in zip(marks, starts[1:], strict=True)]
    return text[: starts[0]], cells

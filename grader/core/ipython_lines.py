"""Notebook lines that only IPython understands."""

from __future__ import annotations

import re

# `%magic`, `!command`, `name?`, `?name`, `files = !ls`, `t = %timeit ...`, and `pip` or `conda` without its `%`.
_MAGIC = re.compile(
    r"(?P<indent>\s*)(?P<assigned>\w+\s*=\s*)?(?P<line>[%!?].*|[\w.]+\?{1,2}|(?:pip|conda)\s.*)\s*", re.DOTALL
)
# `%%check` is ours. Tests in a notebook are not the student's code, even if nbgrader's metadata was lost.
_OTHER_LANGUAGE = re.compile(r"\s*%%(bash|check|sh|html|javascript|js|latex|markdown|writefile|perl|ruby|svg)\b")


def without_magic(cell: str, number: int) -> str | None:
    """Replace one IPython line of a cell, keeping line numbers; None if that line is not IPython."""
    if _OTHER_LANGUAGE.match(cell):
        return ""
    lines = cell.split("\n")
    if not 0 < number <= len(lines) or not (matched := _MAGIC.fullmatch(lines[number - 1])):
        return None
    lines[number - 1] = f"{matched['indent']}{matched['assigned'] or ''}None"
    continued = matched["line"].endswith("\\")
    while continued and number < len(lines):
        continued = lines[number].endswith("\\")
        lines[number] = ""
        number += 1
    return "\n".join(lines)

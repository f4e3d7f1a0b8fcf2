"""The objectives of a lesson: its list of what a student can do afterwards."""

from __future__ import annotations

import re

from grader.course.module import Module, read_text

HEADING = "**After this you can**"
_LIST = re.compile(rf"^{re.escape(HEADING)}\s*\n((?:[-*] .*\n?|[ \t]+\S.*\n?)+)", re.MULTILINE)
_BULLET = re.compile(r"^[-*] ", re.MULTILINE)


def objectives(module: Module) -> tuple[str, ...]:
    """Return the lesson's objectives, each on one line."""
    found = _LIST.search(read_text(module.lesson))
    if found is None:
        return ()
    return tuple(" ".join(entry.split()).rstrip(";.") for entry in _BULLET.split(found[1]) if entry.strip())

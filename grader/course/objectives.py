"""What a lesson promises: its list of what a student can do afterwards."""

from __future__ import annotations

import re

from grader.course.module import Module, read_text

PROMISE = "**After this you can**"
_LIST = re.compile(rf"^{re.escape(PROMISE)}\s*\n((?:[-*] .*\n?|[ \t]+\S.*\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"^[-*] ", re.MULTILINE)


def objectives(module: Module) -> tuple[str, ...]:
    """Return the entries of the lesson's promise, each on one line; none if it makes none."""
    found = _LIST.search(read_text(module.lesson))
    if found is None:
        return ()
    return tuple(" ".join(entry.split()).rstrip(";.") for entry in _ENTRY.split(found[1]) if entry.strip())

"""What is read from a lesson: its objectives, and which part is about which function."""

from __future__ import annotations

import re

from grader.course.module import Module, read_text

HEADING = "**After this you can**"
_LIST = re.compile(rf"^{re.escape(HEADING)}\s*\n((?:[-*] .*\n?|[ \t]+\S.*\n?)+)", re.MULTILINE)
_PART = re.compile(r"^### (?P<number>\d+)\. `(?:class )?(?P<function>\w+)", re.MULTILINE)
_BULLET = re.compile(r"^[-*] ", re.MULTILINE)


def objectives(module: Module) -> tuple[str, ...]:
    """Return the lesson's objectives, each on one line."""
    found = _LIST.search(read_text(module.lesson))
    if found is None:
        return ()
    return tuple(" ".join(entry.split()).rstrip(";.") for entry in _BULLET.split(found[1]) if entry.strip())


def lesson_parts(module: Module) -> dict[str, str]:
    """Return the heading of the part about each function, in short: `2. sort`."""
    found = {
        match["function"]: f"{match['number']}. {match['function']}"
        for match in _PART.finditer(read_text(module.lesson))
    }
    return found | {"reflect": "Reflect"}

"""The parts of a lesson: which of them is about which function."""

from __future__ import annotations

import re

from grader.course.module import Module, read_text

_HEADING = re.compile(r"^### (?P<number>\d+)\. `(?:class )?(?P<function>\w+)", re.MULTILINE)


def lesson_parts(module: Module) -> dict[str, str]:
    """Return the heading of the part about each function, in short: `2. merge_sort`."""
    found = {
        match["function"]: f"{match['number']}. {match['function']}"
        for match in _HEADING.finditer(read_text(module.lesson))
    }
    return found | {"reflect": "Reflect"}

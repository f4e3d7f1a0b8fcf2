"""The open question of a lesson, under Reflect: answered in words and graded by hand."""

from __future__ import annotations

import re

from grader.course.module import Module, read_text

POINTS = 5.0  # in addition to the points of the module, which are all automatic
_OPEN = re.compile(r"^- Open question, for discussion: (?P<text>.*(?:\n  .*)*)", re.MULTILINE)


def open_question(module: Module) -> str:
    """Return the open question of a lesson, in one paragraph; empty if it has none."""
    _, _, reflect = read_text(module.lesson).partition("\n## Reflect\n")
    found = _OPEN.search(reflect)
    if not found:
        return ""
    text = " ".join(line.strip() for line in found["text"].splitlines())
    return text[0].upper() + text[1:]

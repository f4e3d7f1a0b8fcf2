"""Hints about each function in three tiers, read from a module's `hints.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from grader.course.module import CourseError, Module, read_text

TIERS = ("nudge", "pointer", "worked")


@dataclass(frozen=True)
class Hints:
    """The hints about one function: a question, where to look, and the step worked out with numbers."""

    nudge: str
    pointer: str
    worked: str

    def tier(self, number: int) -> str:
        """Return the hint of a tier, counted from 1."""
        return str(getattr(self, TIERS[number - 1]))


def read_hints(module: Module) -> Mapping[str, Hints]:
    """Return the hints of a module by function or `Class.method`."""
    try:
        tables = tomllib.loads(read_text(module.hints))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(module.hints, "", f"is not TOML: {error}", "Fix that line") from None
    found: dict[str, Hints] = {}
    for name, table in tables.items():
        if type(table) is not dict or table.keys() != set(TIERS):
            raise CourseError(module.hints, name, f"needs {', '.join(TIERS)}", "Write these three keys and no others")
        texts = [table[tier] for tier in TIERS]
        if not all(type(text) is str and text.strip() for text in texts):
            raise CourseError(module.hints, name, "has a tier that is not text", "Write one or two sentences")
        found[name] = Hints(*(text.strip() for text in texts))
    return found

"""The misconceptions of a class, with the submissions that show each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from grader.core.json_record import to_json
from grader.core.summary import Summary
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import Module


@dataclass(frozen=True)
class MisconceptionCount:
    """A misconception and the submissions that show it."""

    module: str
    misconception: str
    likely: str
    submissions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the count as JSON data."""
        return to_json(self) | {"count": len(self.submissions)}


def count_misconceptions(course: Course, summaries: Iterable[Summary]) -> list[MisconceptionCount]:
    """Return every diagnosed misconception, the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    for summary in summaries:
        for name in summary.misconceptions:
            found.setdefault((summary.module, name), []).append(summary.submission)
    known = {module.name: read_golden(module).misconceptions for module in _modules(course, {one for one, _ in found})}
    # A report may be older than the course. A misconception that the course no longer has is still counted.
    entries = [
        MisconceptionCount(module, name, str(known.get(module, {}).get(name, {}).get("likely", "")), tuple(sorted(who)))
        for (module, name), who in found.items()
    ]
    return sorted(entries, key=lambda one: (-len(one.submissions), one.module, one.misconception))


def _modules(course: Course, names: set[str]) -> list[Module]:
    return [module for module in course.modules if module.name in names]

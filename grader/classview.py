"""The class view: which misconceptions a class has, and who."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from grader.course import Course
from grader.golden import read_golden
from grader.report import Report


@dataclass(frozen=True)
class Shared:
    """A misconception, and the submissions that have it."""

    module: str
    misconception: str
    likely: str
    submissions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self) | {"count": len(self.submissions), "submissions": list(self.submissions)}


def shared_misconceptions(course: Course, reports: Iterable[Report]) -> list[Shared]:
    """Return every misconception that was named, the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        for name in dict.fromkeys(one.misconception for one in report.diagnoses if one.misconception):
            found.setdefault((report.module, name), []).append(report.submission)
    known = {name: read_golden(course.module(name)).misconceptions for name, _ in found}
    entries = [
        Shared(module, name, str(known[module][name]["likely"]), tuple(who)) for (module, name), who in found.items()
    ]
    return sorted(entries, key=lambda one: (-len(one.submissions), one.module, one.misconception))

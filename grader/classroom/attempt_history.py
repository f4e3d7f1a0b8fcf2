"""Attempts over time, and students who are stuck: the same misconception in attempt after attempt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from grader.classroom.class_results import AttemptResult, ClassResults

STUCK = 3  # attempts with the same misconception


@dataclass(frozen=True)
class StuckStudent:
    """A student who shows one misconception in many attempts at a module, also in the last one."""

    student: str
    module: str
    misconception: str
    attempts: int
    of: int


@dataclass(frozen=True)
class AttemptDay:
    """The attempts that were handed in on one day."""

    day: str
    module: str
    attempts: int


def attempt_days(found: ClassResults) -> tuple[AttemptDay, ...]:
    """Return how many attempts each day had, by module. Without reports of attempts, those that count are counted."""
    times = [(one.module, one.handed_in) for one in found.attempts]
    several = {module for module, _ in times}
    times += [(one.mark.module, one.mark.handed_in) for one in found.results if one.mark.module not in several]
    days = Counter((time[:10], module) for module, time in times if time)
    return tuple(AttemptDay(day, module, count) for (day, module), count in sorted(days.items()))


def stuck_students(attempts: Iterable[AttemptResult]) -> tuple[StuckStudent, ...]:
    """Return who still has a misconception after three or more attempts with it, the most attempts first."""
    by_student: dict[tuple[str, str], list[AttemptResult]] = {}
    for one in attempts:
        by_student.setdefault((one.student, one.module), []).append(one)
    found = []
    for (student, module), mine in by_student.items():
        counts = Counter(name for one in mine for name in set(one.misconceptions))
        found += [
            StuckStudent(student, module, name, counts[name], len(mine))
            for name in mine[-1].misconceptions
            if counts[name] >= STUCK
        ]
    return tuple(sorted(found, key=lambda one: (-one.attempts, one.module, one.student)))

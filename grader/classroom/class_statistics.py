"""Statistics of a class for its dashboard: checks, misconceptions, and attempts."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from grader.classroom.class_results import AttemptResult, CheckInfo, ClassResults, StudentResult

ENOUGH = 10  # submissions, before a remark about a check means something
WEAK = 0.0  # at or below this discrimination, weak work passes a check as often as strong work
SHOWN = 3  # submissions to open, to see whose fault it is
FEWEST = 2  # one student with two misconceptions shows nothing
STUCK = 3  # attempts with the same misconception
Named = tuple[str, str]  # module and misconception


@dataclass(frozen=True)
class CheckStatistics:
    """One check in numbers. `difficulty` is the share of submissions that pass it.

    `discrimination` is the correlation of passing it with the rest of the score, from -1 to 1; None if all submissions
    have the same result.
    """

    check: CheckInfo
    failed: int
    of: int
    discrimination: float | None

    @property
    def difficulty(self) -> float | None:
        """The share of submissions that pass it; None if it was never run."""
        return (self.of - self.failed) / self.of if self.of else None

    @property
    def remark(self) -> str:
        """What its author should look at; empty if there is nothing."""
        if self.of < ENOUGH:
            return ""
        if not self.failed:
            return "nobody fails it"
        if self.failed == self.of:
            return "everybody fails it: is the check right?"
        if self.discrimination is not None and self.discrimination <= WEAK:
            return "strong work fails it as often as weak work: is it clear?"
        if 2 * self.failed > self.of:
            return "more than half fail it: teach it again, or make it clearer"
        return ""


def check_statistics(checks: Iterable[CheckInfo], results: Iterable[StudentResult]) -> tuple[CheckStatistics, ...]:
    """Return the statistics of each check of a module, in their order."""
    checked = [one for one in results if one.was_checked and one.mark.score is not None]
    scores = [one.mark.score or 0.0 for one in checked]
    found = []
    for check in checks:
        passes = [check.name not in one.failed for one in checked]
        rest = [score - check.points * passed for score, passed in zip(scores, passes, strict=True)]
        found.append(CheckStatistics(check, passes.count(False), len(passes), _correlation(passes, rest)))
    return tuple(found)


def _correlation(passes: Sequence[bool], rest: Sequence[float]) -> float | None:
    """Return the point-biserial correlation; None if one of the two does not vary."""
    right = [score for passed, score in zip(passes, rest, strict=True) if passed]
    wrong = [score for passed, score in zip(passes, rest, strict=True) if not passed]
    if not right or not wrong:
        return None
    spread = statistics.pstdev(rest)
    if spread < 1e-9:
        return None
    share = len(right) / len(passes)
    gap = statistics.fmean(right) - statistics.fmean(wrong)
    return round(gap / spread * sqrt(share * (1 - share)), 4)


@dataclass(frozen=True)
class SuspectCheck:
    """A check that may be wrong or not clear, and the strongest submissions that fail it."""

    module: str
    statistics: CheckStatistics
    strongest: tuple[StudentResult, ...]


def suspect_checks(found: ClassResults) -> tuple[SuspectCheck, ...]:
    """Return the checks with a remark that at least one submission fails, the highest share of failures first."""
    suspects = []
    for module in found.modules:
        results = [one for one in found.results if one.mark.module == module]
        for one in check_statistics(found.checks[module].values(), results):
            if one.remark and one.failed:
                failing = [result for result in results if one.check.name in result.failed]
                failing.sort(key=lambda result: (-(result.mark.score or 0.0), result.mark.id))
                suspects.append(SuspectCheck(module, one, tuple(failing[:SHOWN])))
    return tuple(sorted(suspects, key=lambda one: one.statistics.difficulty or 0.0))


@dataclass(frozen=True)
class MisconceptionPair:
    """Two misconceptions: how many students have both, and how many have each."""

    first: Named
    second: Named
    both: int
    of_first: int
    of_second: int


def misconceptions_by_student(results: Iterable[StudentResult]) -> dict[str, set[Named]]:
    """Return the misconceptions of each student in all modules, by the id of the student."""
    found: dict[str, set[Named]] = {}
    for one in results:
        for name in one.misconceptions:
            found.setdefault(one.mark.id, set()).add((one.mark.module, name))
    return found


def misconception_pairs(results: Iterable[StudentResult], most: int = 50) -> tuple[MisconceptionPair, ...]:
    """Return the pairs that most students have, the most frequent first."""
    by_student = misconceptions_by_student(results).values()
    single = Counter(name for names in by_student for name in names)
    pairs = Counter(pair for names in by_student for pair in combinations(sorted(names), 2))
    found = [
        MisconceptionPair(first, second, both, single[first], single[second])
        for (first, second), both in pairs.items()
        if both >= FEWEST
    ]
    return tuple(sorted(found, key=lambda one: (-one.both, one.first, one.second))[:most])


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

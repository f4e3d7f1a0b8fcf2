"""Checks that an instructor should look at, in all modules of a class."""

from __future__ import annotations

from dataclasses import dataclass

from grader.classroom.check_statistics import CheckStatistics, check_statistics
from grader.classroom.class_results import ClassResults, StudentResult

SHOWN = 3  # submissions to open, to see whose fault it is


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

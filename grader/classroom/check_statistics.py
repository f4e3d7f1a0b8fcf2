"""Statistics of checks for their author: how many fail one, and whether it tells strong from weak work."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from grader.classroom.class_results import CheckInfo, StudentResult

ENOUGH = 10  # submissions, before a remark about a check means something
WEAK = 0.0  # at or below this discrimination, weak work passes a check as often as strong work


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

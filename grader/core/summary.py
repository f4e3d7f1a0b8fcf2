"""The summary of a report: the few facts that a class table needs."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from grader.core.errors import ENDING_WORDS
from grader.core.report import Report
from grader.core.safe_text import one_line


@dataclass(frozen=True)
class Summary:
    """One submission in short, without the texts of its report."""

    module: str
    submission: str
    status: str
    message: str
    score: float | None
    max_score: float
    sandbox: str
    checks: int
    failed: tuple[str, ...]  # the checks that did not pass
    costs: int
    too_expensive: tuple[str, ...]  # the costs that are too high
    endings: tuple[str, ...]  # how workers ended early
    misconceptions: tuple[str, ...]
    needs_review: bool
    undecided_points: float = 0.0

    @property
    def is_full(self) -> bool:
        """Whether it has full marks."""
        return self.score == self.max_score

    @property
    def remarks(self) -> tuple[str, ...]:
        """The reasons why a submission does not have full marks, in words."""
        if self.status != "graded":
            return (one_line(f"{self.status.replace('_', ' ')}: {self.message}"),)
        remarks = [self._undecided] if self.needs_review else []
        remarks += [f"{len(self.failed)} of {self.checks} checks not passed"] if self.failed else []
        remarks += [f"{len(self.too_expensive)} of {self.costs} costs too high"] if self.too_expensive else []
        return (*remarks, *self.endings)

    @property
    def to_look_at(self) -> str:
        """Why the instructor should look at this submission; empty if there is no need."""
        if self.status != "graded":
            return self.remarks[0]
        reasons = [self._undecided] if self.needs_review else []
        return "; ".join([*reasons, *self.endings])

    @property
    def _undecided(self) -> str:
        points = "1 point" if self.undecided_points == 1 else f"{self.undecided_points:g} points"
        return f"provisional: {points} not decided yet" if self.undecided_points else "needs review"


def summary_of(report: Report) -> Summary:
    """Return a report's summary. Names that a class shares are stored once."""
    named = (one.misconception for one in report.diagnoses if one.misconception)
    return Summary(
        module=sys.intern(report.module),
        submission=report.submission,
        status=sys.intern(report.status),
        message=report.message[:200],
        score=report.score,
        max_score=report.max_score,
        sandbox=sys.intern(report.sandbox),
        checks=len(report.asked),
        failed=tuple(sys.intern(check.name) for check in report.asked if check.outcome != "passed"),
        costs=len(report.costs),
        too_expensive=tuple(sys.intern(cost.name) for cost in report.costs if cost.verdict == "fail"),
        endings=tuple(dict.fromkeys(ENDING_WORDS[ending.kind] for ending in report.endings)),
        misconceptions=tuple(dict.fromkeys(map(sys.intern, named))),
        needs_review=report.needs_review,
        undecided_points=report.undecided_points,
    )

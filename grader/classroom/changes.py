"""Differences between the reports of two gradings of the same submission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.classroom.provenance import Provenance
from grader.core.report import Report

BY_HAND = "the earlier report was edited or damaged after it was written"
UNKNOWN = "there is no record of how the earlier report was made"


@dataclass(frozen=True)
class ChangedItem:
    """A check or cost with a different outcome than before."""

    name: str
    before: str
    after: str
    points: float


@dataclass(frozen=True)
class GradeChange:
    """A report that differs from the earlier report of the same submission."""

    module: str
    submission: str
    before: float | None
    after: float | None
    why: tuple[str, ...]
    parts: tuple[ChangedItem, ...]

    @property
    def is_of_grade(self) -> bool:
        """Whether the score changed; if not, only outcomes or messages did."""
        return self.before != self.after


def change_between(
    before: Report, after: Report, old: Provenance | None, new: Provenance, *, by_hand: bool = False
) -> GradeChange:
    """Compare two reports of the same submission; `old` and `new` say what each was made from."""
    why = [BY_HAND] if by_hand else [] if old else [UNKNOWN]
    why += old.changes_to(new) if old else []
    if before.sandbox != after.sandbox:
        why.append(f"the sandbox changed from {before.sandbox} to {after.sandbox}")
    if before.status != after.status:
        why.append(f"{before.status.replace('_', ' ')} before, {after.status.replace('_', ' ')} now")
    why += _review_changes(before, after)
    parts = tuple(_changed_items(_outcomes(before), _outcomes(after)))
    return GradeChange(after.module, after.submission, before.score, after.score, tuple(why), parts)


def _review_changes(before: Report, after: Report) -> Iterator[str]:
    """Yield what became different through decisions and --undecided, where the same thing is undecided in both."""
    decisions = {(item.target, item.what, item.reason): item.decision for item in before.reviews}
    for item in after.reviews:
        if decisions.get((item.target, item.what, item.reason), item.decision) != item.decision:
            yield "a decision was made, changed, or does not hold for this code"
            break
    earned = {cost.name: cost.earned for cost in before.costs if cost.verdict == "inconclusive"}
    if any(
        cost.verdict == "inconclusive" and earned.get(cost.name, cost.earned) != cost.earned for cost in after.costs
    ):
        yield "undecided points count differently (--undecided)"


def _changed_items(before: dict[str, tuple[str, float]], after: dict[str, tuple[str, float]]) -> Iterator[ChangedItem]:
    absent = ("not there", 0.0)
    for name in dict.fromkeys([*before, *after]):
        (old_outcome, old_points), (new_outcome, new_points) = before.get(name, absent), after.get(name, absent)
        if (old_outcome, old_points) != (new_outcome, new_points):
            yield ChangedItem(name, old_outcome, new_outcome, round(new_points - old_points, 6))


def _outcomes(report: Report) -> dict[str, tuple[str, float]]:
    """Return the outcome and the points of every check and cost, by name."""
    checks = {check.name: (check.outcome.replace("_", " "), check.earned or 0.0) for check in report.checks}
    costs = {cost.name: (f"cost {cost.verdict}", cost.earned) for cost in report.costs}
    return checks | costs

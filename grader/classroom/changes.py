"""Changes: what became of a grade when it was given anew, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from grader.classroom.provenance import Provenance
from grader.core.report import Report

BY_HAND = "the earlier report was not as it was written: somebody changed it, or it was damaged"
UNKNOWN = "how the earlier report came about is not known"


@dataclass(frozen=True)
class ChangedItem:
    """A check or a cost that comes out otherwise than before."""

    name: str
    before: str
    after: str
    points: float


@dataclass(frozen=True)
class GradeChange:
    """One report that differs from its earlier one."""

    module: str
    submission: str
    before: float | None
    after: float | None
    why: tuple[str, ...]
    parts: tuple[ChangedItem, ...]

    @property
    def is_of_grade(self) -> bool:
        """Whether the score is another; otherwise only outcomes or words are."""
        return self.before != self.after

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def change_between(
    before: Report, after: Report, was: Provenance | None, now: Provenance, *, by_hand: bool = False
) -> GradeChange:
    """Return what is different in a later report of the same submission."""
    why = [BY_HAND] if by_hand else [] if was else [UNKNOWN]
    why += was.changes_to(now) if was else []
    if before.sandbox != after.sandbox:
        why.append(f"the sandbox changed from {before.sandbox} to {after.sandbox}")
    if before.status != after.status:
        why.append(f"{before.status.replace('_', ' ')} before, {after.status.replace('_', ' ')} now")
    parts = tuple(_parts(_outcomes(before), _outcomes(after)))
    return GradeChange(after.module, after.submission, before.score, after.score, tuple(why), parts)


def _parts(before: dict[str, tuple[str, float]], after: dict[str, tuple[str, float]]) -> Iterator[ChangedItem]:
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, ("not there", 0.0)), after.get(name, ("not there", 0.0))
        if old != new:
            yield ChangedItem(name, old[0], new[0], round(new[1] - old[1], 6))


def _outcomes(report: Report) -> dict[str, tuple[str, float]]:
    checks = {check.name: (check.outcome.replace("_", " "), check.earned or 0.0) for check in report.checks}
    costs = {f"{cost.function} {cost.meter}": (f"cost {cost.verdict}", cost.earned) for cost in report.costs}
    return checks | costs

"""The items of a report: everything that is worth points, with text that the student may read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from grader.core.report import CheckResult, CostResult, Diagnosis, Report

Kind = Literal["visible", "hidden", "cost"]
ItemOutcome = Literal["passed", "failed", "not_run", "fault"]


@dataclass(frozen=True)
class Item:
    """One check or cost. `earned` is None if a grader fault left it undecided; that is never a 0."""

    name: str
    title: str
    kind: Kind
    target: str
    points: float
    earned: float | None
    outcome: ItemOutcome
    text: str
    needs_review: bool = False


_OUTCOMES: dict[str, ItemOutcome] = {
    "passed": "passed",
    "failed": "failed",
    "held_back": "not_run",
    "not_run": "not_run",
    "grader_fault": "fault",
}


def items_of(report: Report) -> tuple[Item, ...]:
    """Return the checks of a report, then its costs, without the text that is only for the instructor."""
    undecided = {part for item in report.reviews if item.is_open for part in item.parts}
    checks = (_check(check, needs_review=check.name in undecided) for check in report.asked)
    return (*checks, *map(_cost, report.costs))


def _check(check: CheckResult, *, needs_review: bool) -> Item:
    title = f"{check.target}: {check.property}"
    outcome = _OUTCOMES[check.outcome]
    kind: Kind = "visible" if check.suite == "visible" else "hidden"  # GPU checks are hidden too
    review = _review_text(check.earned) if needs_review else ""
    text = "\n".join(filter(None, (check.message.strip(), review)))
    return Item(check.name, title, kind, check.target, check.points, check.earned, outcome, text, needs_review)


def _cost(cost: CostResult) -> Item:
    undecided = cost.verdict == "inconclusive"
    counted = f"counted {cost.measured or 'nothing'}, where {cost.law} is allowed"
    review = _review_text(cost.earned) if undecided else ""
    lines = [counted, cost.message, review]
    if cost.verdict == "fail" and cost.line:
        lines.append(f"See line {cost.line}.")
    return Item(
        name=f"{cost.function}_{cost.meter}",
        title=f"{cost.function}: {cost.meter} at most {cost.law}",
        kind="cost",
        target=cost.target,
        points=cost.points,
        earned=cost.earned,
        outcome="failed" if cost.verdict == "fail" else "passed",
        text="\n".join(line for line in lines if line),
        needs_review=undecided,
    )


def _review_text(earned: float | None) -> str:
    if earned:
        return "Not decided yet: you keep the points until your course staff has looked at it."
    return "Not decided yet: you get the points once your course staff has looked at it and accepted it."


def shown_diagnoses(report: Report, *, public: bool = False) -> Iterator[Diagnosis]:
    """Yield the diagnoses for a student.

    With `public`, only what a student could find out alone. If no visible check of a target fails, its diagnosis would
    reveal that a hidden check does.
    """
    visibly_failing = {
        check.target for check in report.checks if check.suite == "visible" and check.outcome == "failed"
    }
    for diagnosis in report.diagnoses:
        if (
            not public
            or not diagnosis.target
            or diagnosis.target in visibly_failing
            or _is_too_expensive(report, diagnosis.target)
        ):
            yield diagnosis


def diagnosed(report: Report, *, public: bool = False) -> Iterator[str]:
    """Yield the texts of the diagnoses for a student, and the calls that are not allowed."""
    for diagnosis in shown_diagnoses(report, public=public):
        yield diagnosis.message
    for call in dict.fromkeys(report.forbidden):
        yield f"{call.call} in line {call.line} is not allowed in {call.target}: {call.why}"


def _is_too_expensive(report: Report, target: str) -> bool:
    """Whether a target fails only by its costs, which `attn profile` shows to the student."""
    failing = any(check.target == target and check.outcome == "failed" for check in report.checks)
    return not failing and any(cost.target == target and cost.verdict == "fail" for cost in report.costs)

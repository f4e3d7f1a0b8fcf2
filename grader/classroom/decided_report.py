"""A report with the instructor's decisions in it: the same grading, other verdicts and another score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.core.report import CheckResult, CostResult, Decision, Report, ReviewItem, Undecided

Decide = Callable[[ReviewItem], tuple[Decision, str]]  # the decision about an item, and the comment


def decided(report: Report, decide: Decide, undecided: Undecided) -> Report:
    """Return a report with decisions, and with or without the points that are still undecided.

    It may have been through this before: the decisions in it are taken out first. So the result depends only on the
    grading, the decisions and `undecided`.
    """
    if not report.reviews or report.score is None:
        return report
    reviews = tuple(_with(item, *decide(item)) for item in report.reviews)
    before, after = _by_part(report.reviews), _by_part(reviews)
    checks = tuple(_check(one, before.get(one.name, ()), after.get(one.name, ()), undecided) for one in report.checks)
    costs = tuple(_cost(one, before.get(one.name, ()), after.get(one.name, ()), undecided) for one in report.costs)
    score = round(sum(check.earned or 0.0 for check in checks) + sum(cost.earned for cost in costs), 6)
    return replace(report, score=score, checks=checks, costs=costs, reviews=reviews)


def _with(item: ReviewItem, decision: Decision, comment: str) -> ReviewItem:
    return replace(item, decision=decision, comment=comment)


def _by_part(items: Sequence[ReviewItem]) -> dict[str, list[ReviewItem]]:
    """Return the items that each check or cost depends on."""
    found: dict[str, list[ReviewItem]] = {}
    for item in items:
        for part in item.parts:
            found.setdefault(part, []).append(item)
    return found


def _decision(items: Sequence[ReviewItem]) -> Decision:
    """Return the decision about a part: one rejected item is enough, but every item must be accepted."""
    decisions = {item.decision for item in items}
    return "rejected" if "rejected" in decisions else "open" if "open" in decisions else "accepted"


def _cost(
    cost: CostResult, before: Sequence[ReviewItem], after: Sequence[ReviewItem], undecided: Undecided
) -> CostResult:
    """Decide a cost that the meters left undecided. One that failed by itself stays as it is."""
    old, new = _note(before), _note(after)
    was_decided = bool(old) and cost.message.endswith(old)
    if not after or not (cost.verdict == "inconclusive" or was_decided):
        return cost
    message = cost.message.removesuffix(old) + new
    match _decision(after):
        case "accepted":
            return replace(cost, verdict="pass", earned=cost.points, message=message)
        case "rejected":
            return replace(cost, verdict="fail", earned=0.0, message=message)
    earned = cost.points if undecided == "count" else 0.0
    return replace(cost, verdict="inconclusive", earned=earned, message=message)


def _check(
    check: CheckResult, before: Sequence[ReviewItem], after: Sequence[ReviewItem], undecided: Undecided
) -> CheckResult:
    """Decide a check that passed, which has no message of its own. One that failed by itself stays as it is."""
    old, new = _note(before).strip(), _note(after).strip()
    was_decided = bool(old) and check.message == old
    if not after or not (check.outcome == "passed" or was_decided):
        return check
    said = replace(check, message=new, detail=new)
    match _decision(after):
        case "accepted":
            return replace(said, outcome="passed", earned=check.points)
        case "rejected":
            return replace(said, outcome="failed", earned=0.0)
    return replace(said, outcome="passed", earned=check.points if undecided == "count" else 0.0)


def _note(items: Sequence[ReviewItem]) -> str:
    """Return what the message of a part says about the decisions; the student may read it."""
    notes = (
        f" [{item.decision} by the instructor{f': {item.comment}' if item.comment else ''}]"
        for item in items
        if not item.is_open
    )
    return "".join(dict.fromkeys(notes))

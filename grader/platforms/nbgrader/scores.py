"""The scores of a report for a gradebook: points for each target, with a comment that the student may read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.core.report import CheckResult, CostResult, Report


class NotGradedError(Exception):
    """A report without a score, because the grader or the machine failed; never a 0."""


@dataclass(frozen=True)
class TargetScore:
    """The points that a submission earned for one target, the points possible, and a comment."""

    target: str
    earned: float
    points: float | None  # None if the submission could not be loaded, because then the costs were not measured
    comment: str
    review: bool  # whether the instructor should look at it, because something could not be decided


def scores_of(report: Report) -> tuple[TargetScore, ...]:
    """Return the scores of a report; NotGradedError if it has none."""
    if report.score is None:
        raise NotGradedError(f"{report.submission} was not graded in {report.module}: {report.message}")
    targets = dict.fromkeys(one.target for one in _parts(report))
    scores = tuple(_score(report, target) for target in targets)
    if abs(sum(one.earned for one in scores) - report.score) > 1e-6:
        raise NotGradedError(f"the report of {report.submission} does not add up to {report.score:g}")
    return scores


def _score(report: Report, target: str) -> TargetScore:
    parts = [one for one in _parts(report) if one.target == target]
    earned = round(sum(one.earned or 0.0 for one in parts), 6)
    points = round(sum(one.points for one in parts), 6)
    undecided = {part for item in report.reviews if item.is_open for part in item.parts}
    review = any(one.name in undecided for one in parts) or any(
        cost.verdict == "inconclusive" for cost in report.costs if cost.target == target
    )
    if report.status == "not_importable":
        comment = _comment("This could not be loaded, so nothing in it was graded.", [report.message])
        return TargetScore(target, earned, None, comment, review)
    comment = _comment(f"{earned:g} of {points:g} points.", [*_diagnosed(report, target), *_lost(report, target)])
    return TargetScore(target, earned, points, comment, review)


def _parts(report: Report) -> list[CheckResult | CostResult]:
    """Return everything that is worth points."""
    return [*report.asked, *report.costs]


def _diagnosed(report: Report, target: str) -> list[str]:
    return [one.message for one in report.diagnoses if one.target == target]


def _lost(report: Report, target: str) -> Iterator[str]:
    """Yield a line for each check and cost that lost points or may still lose some, without hidden text."""
    for check in report.asked:
        if check.target == target and check.outcome != "passed":
            yield f"- {check.message}" if check.suite != "visible" else f"- {check.property}: {check.message}"
    costs = [cost for cost in report.costs if cost.target == target and cost.verdict != "pass"]
    for function in dict.fromkeys(cost.function for cost in costs):
        yield from _too_expensive([cost for cost in costs if cost.function == function])
    for call in report.forbidden:
        if call.target == target:
            yield f"- {call.call} in line {call.line} is not allowed: {call.why}"


def _too_expensive(costs: Sequence[CostResult]) -> Iterator[str]:
    """Yield the costs of one function that are too high; a reason that several meters share is given once."""
    reasons = {cost.message for cost in costs}
    if len(costs) > 1 and len(reasons) == 1:
        yield f"- the cost of {costs[0].function}: {reasons.pop()}"
        return
    for cost in costs:
        undecided = ", not decided yet" if cost.verdict == "inconclusive" else ""
        counted = f"{cost.measured or 'not measured'}, where {cost.law} is allowed"
        because = f": {cost.message}" if cost.message else ""
        yield f"- the {cost.meter} of {cost.function}{undecided}: {counted}{because}"


def _comment(headline: str, texts: Iterable[str]) -> str:
    """Return a comment. The lines below the headline are a code block, as they may contain text of the student."""
    lines = [line for text in dict.fromkeys(texts) for line in text.splitlines()]
    return "\n".join([headline, "", *(f"    {line}" for line in lines)]) if lines else headline

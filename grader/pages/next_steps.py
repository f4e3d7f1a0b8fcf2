"""What a student should do next, from a report."""

from __future__ import annotations

from grader.core.report import Report
from grader.pages.paragraphs import next_step_of


def next_steps(report: Report, *, own: bool) -> tuple[str, ...]:
    """Return one to three sentences: the first thing to fix comes first."""
    slug = report.module.partition("_")[2] or report.module
    if report.status == "not_importable":
        return (f"Fix the error above, so that Python can load your file. Then run `attn test {slug}`.",)
    if report.score is None:
        return ("There is nothing for you to do: the grader failed, not your code. Your work will be graded again.",)
    steps = []
    first = report.first_diagnosis
    failed = [check for check in report.checks if check.outcome == "failed"]
    if first is not None and first.target:
        advice = next_step_of(first.message)
        steps.append(f"Begin with {first.target}. {advice[:1].upper()}{advice[1:]}".strip())
    elif failed:
        steps.append(f"Begin with {failed[0].target}: {failed[0].property}. Then run `attn test {slug}`.")
    costly = [cost for cost in report.costs if cost.verdict == "fail"]
    if costly and not failed:
        steps.append(f"See what {costly[0].function} costs, and where: `attn profile {slug} {costly[0].function}`.")
    if report.forbidden:
        call = report.forbidden[0]
        steps.append(f"Write {call.target} without {call.call} (line {call.line}).")
    if report.needs_review and not own:
        steps.append("Your course staff still has to decide something. You need not do anything about that.")
    if not steps:
        steps.append(f"Run `attn complete {slug}`." if own else "Nothing is wrong here. Go on with the next module.")
    return tuple(steps)

"""Plain text views of reports, for a terminal without colours that is 80 characters wide."""

from __future__ import annotations

import textwrap
from datetime import timedelta
from typing import TYPE_CHECKING

from grader.core.report import cost_word, without_word
from grader.core.safe_text import listed, one_line, visible
from grader.core.times import show_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.authoring.soundness import Soundness
    from grader.classroom.batch import BatchResult, ClassCounts
    from grader.classroom.marks import Mark
    from grader.classroom.results import GradeChange
    from grader.classroom.stats import MisconceptionCount
    from grader.core.report import CheckResult, Report
    from grader.core.summary import Summary

WIDTH = 80
REMARK = 64
LONGEST = 8  # lines for one check
_WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "held_back": "held back",
    "not_run": "not run",
    "grader_fault": "GRADER FAULT",
}


def class_table(settled: BatchResult, course: str = "") -> Iterator[str]:
    """Yield one line per submission, the misconceptions, and a summary with the name of the course, if it has one."""
    reports = settled.summaries
    lateness = {(mark.module, mark.submission): text for mark in settled.marks if (text := _by_person(mark))}
    header = ("submission", "module", "score")
    widths = [len(name) for name in header]
    for one in reports:
        widths = [max(width, len(text)) for width, text in zip(widths, _cells(one), strict=True)]
    yield _row(header, widths, "")
    for one in reports:
        yield _row(_cells(one), widths, _remark(one, lateness.get((one.module, one.submission), "")))
    yield ""
    yield from misconception_lines(settled.shared)
    yield from _missing(settled.marks)
    yield _class_summary(settled.counts, course)


def _cells(summary: Summary) -> tuple[str, str, str]:
    return summary.submission, summary.module, _score(summary)


def _row(cells: tuple[str, str, str], widths: Sequence[int], remark: str) -> str:
    name, module, score = cells
    return f"{name:<{widths[0]}}  {module:<{widths[1]}}  {score:>{widths[2]}}  {remark}".rstrip()


def _class_summary(counts: ClassCounts, course: str) -> str:
    submissions = "1 submission" if counts.submissions == 1 else f"{counts.submissions} submissions"
    less = counts.submissions - counts.full - counts.not_graded
    summary = f"{submissions}: {counts.full} with full marks, {less} with less"
    summary += f", {counts.not_graded} not graded" if counts.not_graded else ""
    summary += f", {counts.provisional} of them provisional" if counts.provisional else ""
    return f"{f'{one_line(course)}: ' if course else ''}{summary} (sandbox: {', '.join(counts.sandboxes)})"


def _by_person(mark: Mark) -> str:
    """Return what makes the final mark another than the score: points by hand, or lateness."""
    by_hand = "" if mark.override is None else f"{mark.override:g} by hand"
    comment = f"comment: {mark.comment}" if mark.comment else ""
    return "; ".join(filter(None, (by_hand, one_line(comment, REMARK), _late(mark))))


def _late(mark: Mark) -> str:
    """Return what is known about lateness; empty if the work is on time or nothing is due."""
    if not mark.time_known and (mark.due or mark.marked_late):
        return "marked LATE, by how much is unknown" if mark.marked_late else "submission time unknown"
    if not mark.late_s:
        return ""
    late = f"late by {show_length(timedelta(seconds=mark.late_s))}"
    return f"{late}: {mark.automatic:g} after the penalty" if mark.penalty and mark.automatic is not None else late


def _missing(marks: Sequence[Mark]) -> list[str]:
    """Return the students on the roster who handed in nothing, or nothing that can be graded."""
    missing: dict[str, list[str]] = {}
    skipped: list[str] = []
    for mark in marks:
        by_hand = "" if mark.override is None else f" ({mark.override:g} by hand)"
        name = one_line(mark.name or mark.id) + by_hand
        if mark.status == "missing":
            missing.setdefault(mark.module, []).append(name)
        elif mark.status == "skipped":
            why = f": {one_line(mark.reason, 1000)}" if mark.reason else ""
            skipped.append(wrapped(f"{mark.module}: skipped the work of {name}{why}", ""))
    lines = [*skipped, *(wrapped(f"{module}: nothing from {listed(names)}", "") for module, names in missing.items())]
    return [*lines, ""] if lines else []


def change_lines(changes: Sequence[GradeChange]) -> list[str]:
    """Return which grades changed, through which checks, and why."""
    lines = []
    for change in (one for one in changes if one.is_of_grade):
        before, after = ("–" if score is None else f"{score:g}" for score in (change.before, change.after))
        lines.append(wrapped(f"{change.submission} {change.module}: {before} → {after}", "  "))
        lines.append(wrapped("; ".join(change.why) or "none of its inputs has changed", " " * 6))
        shown = [f"{part.name}: {part.before} → {part.after} ({part.points:+g})" for part in change.parts]
        rest = len(shown) - LONGEST
        lines += [wrapped(text, " " * 6) for text in shown[:LONGEST]]
        lines += [f"      and {rest} more"] if rest > 0 else []
    others = sum(not one.is_of_grade for one in changes)
    head = f"Grades that changed since the last run: {len(changes) - others}"
    head += f" (and {others} only in their messages)" if others else ""
    return [f"{head}.", *lines] if changes else []


def remark_lines(remarked: Sequence[tuple[Mark, Mark]]) -> list[str]:
    """Return which final marks changed although the report is the same: due dates or penalties changed."""
    lines = ["Final marks that changed only because of lateness:"] if remarked else []
    for before, after in remarked:
        old, new = ("–" if mark.final is None else f"{mark.final:g}" for mark in (before, after))
        lines.append(wrapped(f"{after.submission} {after.module}: {old} → {new}", "  "))
    return lines


def misconception_lines(shared: Sequence[MisconceptionCount]) -> list[str]:
    """Return the misconceptions of a class, and who has them."""
    lines = ["Misconceptions:"] if shared else []
    for one in shared:
        who = listed(one.submissions)
        lines.append(wrapped(f"{len(one.submissions)} × {one.module} {one.misconception}: {who}", "  "))
        lines.append(wrapped(one.likely, " " * 6))
    return [*lines, ""] if shared else []


def soundness_lines(result: Soundness) -> list[str]:
    """Return whether a module is sound, and if not, why."""
    if result.problems:
        lines = [f"{result.module.name}: NOT SOUND"]
        for problem in result.problems:
            lines.append(wrapped(problem.what, "  - "))
            lines += [wrapped(f"{problem.fix}.", "      ")] if problem.fix else []
        return lines
    points = f"{result.module.points:g} points"
    if result.proof.not_run:
        return [f"{result.module.name}: {result.proof.not_run} (optional, {points})"]
    counts = f"{result.proof.checks} checks, {result.proof.misconceptions} misconceptions, {points}"
    return [f"{result.module.name}: sound ({counts})"]


def report_screen(report: Report) -> str:
    """Return a complete report: every check, and the reason for each that did not pass."""
    lines = [f"{report.submission} · {report.module} · {report.file}", ""]
    if report.message:
        lines += [wrapped(report.message, "  "), ""]
    if report.status in ("graded", "grader_fault"):
        lines += [*_checks(report.checks), *_costs(report), *_diagnoses(report), *_undecided(report), ""]
    lines += [wrapped(one.text("the student's"), "") for one in report.builds_on]
    provisional = "provisional, " if report.undecided_points else ""
    lines.append(f"score {_score(report)} ({provisional}{report.status}, sandbox: {report.sandbox})")
    return "\n".join(lines)


def _checks(checks: tuple[CheckResult, ...]) -> list[str]:
    lines: list[str] = []
    suite = ""
    for check in checks:
        if check.suite != suite:
            suite = check.suite
            lines.append(f"{suite} checks")
        lines += _check(check)
    return lines


def _costs(report: Report) -> list[str]:
    """Return the cost of each function beside its limit, and the calls that are not allowed."""
    lines = ["costs"] if report.costs else []
    for cost in report.costs:
        word = cost_word(cost.verdict, cost.measured, cost.message)
        lines.append(f"  {word:<12} {cost.earned:>4g} / {cost.points:<4g} {cost.function}: {cost.meter}")
        text = "; ".join(filter(None, (cost.measured, f"limit: {cost.law}", without_word(cost.message))))
        text += f" (line {cost.line})" if cost.line else ""
        lines.append(wrapped(text, " " * 15))
    called = [f"{call.target} calls {call.call} in line {call.line}: {call.why}" for call in report.forbidden]
    return lines + [wrapped(text, "  NOT ALLOWED  ") for text in called]


def _undecided(report: Report) -> list[str]:
    """Return what the instructor must still decide, unless it is a cost: then the cost itself says so."""
    found = [item for item in report.reviews if item.is_open and item.what != "cost"]
    lines = ["not decided"] if found else []
    for item in found:
        where = f"{item.file}:{item.line}" if item.line else item.file
        lines.append(wrapped(f"{item.target or 'the complete submission'} ({where}): {item.reason}", "  "))
    return lines


def _diagnoses(report: Report) -> list[str]:
    lines = ["diagnoses"] if report.diagnoses else []
    for one in report.diagnoses:
        lines += [f"  {one.function or one.target}", textwrap.indent(one.message, "    ")]
    return lines


def _check(check: CheckResult) -> list[str]:
    earned = "?" if check.earned is None else f"{check.earned:g}"
    lines = [f"  {_WORDS[check.outcome]:<12} {earned:>4} / {check.points:<4g} {check.property}"]
    if check.outcome != "passed":
        reason = (check.detail or check.message).partition("\n")[0]
        lines.append(wrapped(reason, " " * 15))
    return lines


def wrapped(text: str, indent: str) -> str:
    """Return a text as lines for a narrow terminal, each behind the indent."""
    lines: list[str] = []
    for line in visible(text).splitlines():
        indent = " " * len(indent) if lines else indent  # only the first line carries a bullet
        rest = " " * (len(indent) + 2)
        lines += textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=rest) or [""]
    return "\n".join(lines)


def _remark(summary: Summary, late: str) -> str:
    """Return what to know about a submission that is late or does not have full marks."""
    text = "; ".join(summary.remarks)
    if summary.status != "graded" and len(text) > REMARK:
        text = f"{text[:REMARK]}…"
    return "; ".join(filter(None, (late, text)))


def _score(report: Report | Summary) -> str:
    score = "–" if report.score is None else f"{report.score:g}"
    return f"{score} / {report.max_score:g}"

"""Plain text views of a report: words for every status, nothing that needs a colour or a wide terminal."""

from __future__ import annotations

import textwrap

from grader.report import CheckResult, Report

WIDTH = 80
_WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "held_back": "held back",
    "not_run": "not run",
    "grader_fault": "GRADER FAULT",
}


def report_line(report: Report) -> str:
    """Return a report as one line of a class table."""
    return f"{report.submission:<24} {report.module:<20} {_score(report):>13}  {report.status}"


def report_screen(report: Report) -> str:
    """Return a whole report for one reader: every check, and for those not passed the reason."""
    lines = [f"{report.submission} · {report.module} · {report.file}", ""]
    if report.message:
        lines += [_wrapped(report.message, ""), ""]
    if report.status in ("graded", "grader_fault"):
        lines += [*_checks(report.checks), ""]
    lines.append(f"score {_score(report)} ({report.status}, sandbox: {report.sandbox})")
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


def _check(check: CheckResult) -> list[str]:
    earned = "?" if check.earned is None else f"{check.earned:g}"
    lines = [f"  {_WORDS[check.outcome]:<12} {earned:>4} / {check.points:<4g} {check.property}"]
    if check.outcome != "passed":
        reason = (check.detail or check.message).partition("\n")[0]
        lines.append(_wrapped(reason, " " * 15))
    return lines


def _wrapped(text: str, indent: str) -> str:
    lines = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ") or [""]
    return "\n".join(lines)


def _score(report: Report) -> str:
    score = "–" if report.score is None else f"{report.score:g}"
    return f"{score} / {report.max_score:g}"

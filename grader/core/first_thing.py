"""The first thing that a student should act on: every screen and page takes it from here."""

from __future__ import annotations

from grader.core.report import CheckResult, Diagnosis, Report

RENAME = ": rename it to"
NO_RETURN = "has no `return` with a value"


def first_thing(report: Report) -> Diagnosis | CheckResult | None:
    """Return the first diagnosis, or a failed check that comes before it and that no diagnosis can explain.

    Such a check ended the process, or its function has another name or no `return`. The order is that of the lesson.
    """
    failed = [check for check in report.checks if check.outcome == "failed"]
    ended = {ending.during for ending in report.endings}
    told = report.first_diagnosis
    stuck = [check for check in failed if check.name in ended or RENAME in check.message or NO_RETURN in check.message]
    if told is None:
        return next(iter(stuck or failed), None)
    order = _lesson_order(report)
    stuck.sort(key=lambda check: order.index(check.target))
    if stuck and (told.kind == "not written" or not told.target or told.target not in order):
        return stuck[0]
    return stuck[0] if stuck and order.index(stuck[0].target) <= order.index(told.target) else told


def _lesson_order(report: Report) -> list[str]:
    """Return the functions and classes in the order of the lesson."""
    stated = [one.function.partition(".")[0] for one in report.properties]
    return list(dict.fromkeys([*stated, *(check.target for check in report.checks)]))

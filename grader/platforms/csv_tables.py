"""CSV tables for a spreadsheet, with one line for each student or for each check."""

from __future__ import annotations

from grader.classroom.class_list import ClassList
from grader.classroom.report_items import items_of
from grader.classroom.totals import TotalRules, totals_of
from grader.core.csv_table import Value, csv_text

PERSON = ("id", "name", "section")
CHECKS = (*PERSON, "module", "kind", "target", "check", "title", "points", "earned", "outcome")


def students_table(found: ClassList, rules: TotalRules) -> str:
    """Return a table with one line for each student: final mark and status of each module, then the total.

    A mark without a score is an empty cell. The last column says what is special about the total, such as missing work.
    A module in which something was given by hand has two more columns: the automatic mark and the comment.
    """
    totals = totals_of(found, rules)
    modules = list(found.modules)
    by_hand = {mark.module for mark in found.marks if mark.override is not None or mark.comment}
    columns: list[str] = []
    for module in modules:
        columns += [module, f"{module} status"]
        columns += [f"{module} automatic", f"{module} comment"] if module in by_hand else []
    rows: list[list[Value]] = []
    for student, marks in found.by_person().items():
        mark = next(iter(marks.values()), None)
        row: list[Value] = [student, mark.name if mark else "", mark.section if mark else ""]
        for module in modules:
            one = marks.get(module)
            row += [one.final, one.status] if one else [None, ""]
            if module in by_hand:
                row += [one.automatic, one.comment] if one else [None, ""]
        total = totals[student]
        rows.append([*row, total.earned, total.of, total.note])
    return csv_text([*PERSON, *columns, "total", "of", "note"], rows)


def checks_table(found: ClassList) -> str:
    """Return a table with one line for each check and cost of every report.

    A check that the grader could not decide has no points in it.
    """
    rows: list[list[Value]] = [
        [
            *(mark.id, mark.name, mark.section, mark.module),
            *(item.kind, item.target, item.name, item.title, item.points),
            None if mark.score is None else item.earned,
            item.outcome,
        ]
        for mark, report in found.reports()
        for item in items_of(report)
    ]
    return csv_text(CHECKS, rows)

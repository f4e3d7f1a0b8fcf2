"""Tables for a spreadsheet: one line a student, or one line a check."""

from __future__ import annotations

from grader.core.csv_table import Value, csv_text
from grader.platforms.class_list import ClassList
from grader.platforms.items import items_of

PERSON = ("id", "name", "section")
CHECKS = (*PERSON, "module", "kind", "target", "check", "title", "points", "earned", "outcome")


def students_table(found: ClassList) -> str:
    """Return one line a student: for each module the final mark and how it came about, then what they add up to.

    Of what has no score the cell is empty, and it is in neither sum.
    """
    modules = list(found.modules)
    columns = [column for module in modules for column in (module, f"{module} status")]
    rows: list[list[Value]] = []
    for who, marks in found.by_person().items():
        one = next(iter(marks.values()), None)
        row: list[Value] = [who, one.name if one else "", one.section if one else ""]
        for module in modules:
            row += [marks[module].final, marks[module].status] if module in marks else [None, ""]
        scored = [mark for mark in marks.values() if mark.final is not None]
        row += [sum(mark.final or 0.0 for mark in scored), sum(mark.max_score for mark in scored)]
        rows.append(row if scored else [*row[:-2], None, None])
    return csv_text([*PERSON, *columns, "total", "of"], rows)


def checks_table(found: ClassList) -> str:
    """Return one line a check or cost of every report; what a fault of ours left undecided has no points in it."""
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

"""Plain text views of what was found: who handed in which file for which module, and what is skipped and why."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from grader.core.safe_text import one_line
from grader.core.times import show_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.classroom.accounting import Accounting
    from grader.submission.found import FileLine
    from grader.submission.identity import Identity

HEADS = {
    "graded": "To grade:",
    "not counted": "Attempts that do not count:",
    "skipped": "Skipped:",
    "not work": "Not work:",
}
WIDTH = 80


def dry_run_lines(accounting: Accounting, person: Callable[[Identity], str]) -> list[str]:
    """Return every file and every missing person. `person` says who a student is on the roster."""
    lines: list[str] = []
    for fate, head in HEADS.items():
        found = [line for line in accounting.files if line.fate == fate]
        lines += [head, *(text for line in found for text in _file(line, person)), ""] if found else []
    missing = [line for line in accounting.people if line.fate == "missing"]
    if missing:
        lines += ["Missing:", *(f"  {one_line(_named(one.id, one.name))}  {one.module}" for one in missing), ""]
    return lines


def student_notes(accounting: Accounting) -> list[str]:
    """Return the students who are not on the roster, or may be several people on it."""
    several = dict(accounting.doubtful)
    lines = [
        one_line(f"{student} may be {' or '.join(ids)} on the roster: not guessed. Use --map")
        for student, ids in several.items()
    ]
    others = [student for student in accounting.strangers if student not in several]
    return lines + [one_line(f"{student} is not on the roster; graded anyway") for student in others]


def sum_lines(accounting: Accounting) -> list[str]:
    """Return the sums of a run, each on one line."""
    return [one_line(line) for line in accounting.sums()]


def _file(line: FileLine, person: Callable[[Identity], str]) -> list[str]:
    shown = f"  {one_line(line.path, 1000)}"
    if line.fate == "graded":
        who = ", ".join(person(one) for one in line.who)
        attempt = f", attempt {line.attempt}" if line.attempt else ""
        return [shown, one_line(f"      {who}, {line.module}{attempt}, {_when(line)}", 1000)]
    return [
        shown,
        *textwrap.wrap(one_line(line.reason, 1000), WIDTH - 6, initial_indent=" " * 6, subsequent_indent=" " * 6),
    ]


def _when(line: FileLine) -> str:
    if line.handed_in is not None:
        return show_time(line.handed_in)
    return "marked LATE, time unknown" if line.late else "time unknown"


def _named(identifier: str, name: str) -> str:
    return f"{identifier} ({name})" if name else identifier

"""Marks: what a report counts for, once it is known who handed it in, and when."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from grader.classroom.lateness import Deadlines
from grader.classroom.roster import Person, Roster
from grader.core.csv_table import csv_text
from grader.core.report import Report
from grader.submission.submission import SubmissionRef

MISSING = "missing"


@dataclass(frozen=True)
class Mark:
    """One line of the class list. `final` is the score less what lateness costs; None where there is no score."""

    id: str
    name: str
    section: str
    submission: str
    module: str
    status: str
    score: float | None
    max_score: float
    handed_in: str
    due: str
    late_s: float
    penalty: float
    final: float | None
    attempt: str
    attempts: int
    needs_review: bool

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dataclasses.asdict(self)


HEADER = tuple(field.name for field in dataclasses.fields(Mark))


@dataclass(frozen=True)
class Marking:
    """How a class is marked: who is in it, and what is due when."""

    roster: Roster | None = None
    deadlines: Deadlines = dataclasses.field(default_factory=Deadlines)

    def person(self, student: str) -> Person | None:
        """Return who on the roster a student is."""
        return self.roster.find(student) if self.roster else None

    def mark(self, handed_in: SubmissionRef, report: Report) -> Mark:
        """Return what one report counts for."""
        # A name as it is, but for what no file can hold; that of the report is made for terminals.
        own = handed_in.student.encode("utf-8", "replace").decode()
        person = self.person(handed_in.student) or Person(own)
        names = dict.fromkeys((person.id, handed_in.student, *person.other_names))
        came = self.deadlines.handed_in_at(names, report.module, handed_in.piece.handed_in)
        due = self.deadlines.due_at(names, report.module)
        late = self.deadlines.lateness(due, came)
        rule = self.deadlines.penalty
        penalty = min(rule.points(late, report.max_score), report.score or 0.0) if rule and late else 0.0
        return Mark(
            id=person.id,
            name=person.name,
            section=person.section,
            submission=report.submission,
            module=report.module,
            status=report.status,
            score=report.score,
            max_score=report.max_score,
            handed_in=_iso(came) if came else "",
            due=_iso(due) if due else "",
            late_s=round(late.total_seconds(), 3),
            penalty=penalty,
            final=None if report.score is None else round(report.score - penalty, 6),
            attempt=handed_in.attempt,
            attempts=handed_in.attempts,
            needs_review=report.needs_review,
        )

    def named(self, mark: Mark) -> Mark:
        """Return a mark of an earlier run with the name that its student has on the roster by now."""
        person = self.person(mark.id) or self.person(mark.submission)
        if person is None:
            return mark
        return dataclasses.replace(mark, id=person.id, name=person.name, section=person.section)

    def missing(self, module: str, max_score: float, marks: Iterable[Mark]) -> list[Mark]:
        """Return a line for everybody on the roster who handed in nothing for a module; nobody gave them a score."""
        there = {mark.id for mark in marks if mark.module == module}
        absent = [person for person in self.roster.people if person.id not in there] if self.roster else []
        return [
            Mark(p.id, p.name, p.section, "", module, MISSING, None, max_score, "", "", 0.0, 0.0, None, "", 0, False)
            for p in absent
        ]


def mark_from(data: Any) -> Mark:
    """Return the mark that plain data describes; ValueError if it is none."""
    try:
        return Mark(**{name: data[name] for name in HEADER})
    except (KeyError, TypeError) as error:
        raise ValueError(f"no mark: {error!r}") from None


def best_of(marks: Mapping[str, Mark]) -> str:
    """Return which of several attempts counts: the highest final mark, and of equals the first handed in.

    One that could not be graded may have been the best: then it is the one to be looked at.
    """
    return max(marks, key=lambda attempt: _rank(marks[attempt]))


def _rank(mark: Mark) -> tuple[bool, float, float]:
    came = datetime.fromisoformat(mark.handed_in).timestamp() if mark.handed_in else 0.0
    return (mark.final is None, mark.final or 0.0, -came)


def marks_text(marks: Iterable[Mark]) -> str:
    """Return the class list as CSV."""
    return csv_text(HEADER, [[getattr(mark, name) for name in HEADER] for mark in marks])


def _iso(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds")

"""Marks: the final score of a report, once its student and its submission time are known."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from grader.classroom.lateness import Deadlines, Penalty
from grader.classroom.roster import Person, Roster
from grader.core.csv_table import csv_lines
from grader.core.json_record import OMITTED_IF_NONE
from grader.core.report import Report
from grader.core.safe_text import plain_name, visible_line
from grader.submission.identity import Identity
from grader.submission.submission import SubmissionRef

MISSING = "missing"
SKIPPED = "skipped"  # something was handed in, but could not be graded
NO_REPORT = (MISSING, SKIPPED)

_FOR_INSTRUCTORS = re.compile(r"[.:] (?:Use|If|if|Add) [^.]*--.*", re.DOTALL)  # what they can do about skipped work


@dataclass(frozen=True)
class Mark:
    """One line of the class list.

    `final` is the score minus the late penalty, or the points that the instructor gave by hand (`override`). It is None
    if there is neither.
    """

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
    provisional: bool = False  # whether points in the score, or withheld from it, are not decided yet
    time_known: bool = True  # if not, there is no late penalty
    marked_late: bool = False  # by the platform, which may not say by how much
    override: float | None = None  # with the comment, from overrides.csv
    comment: str = ""
    # Why the work was skipped. Older lines of the journal do not have it.
    reason: str | None = dataclasses.field(default=None, metadata=OMITTED_IF_NONE)

    @property
    def automatic(self) -> float | None:
        """The mark without an override: the score minus the late penalty."""
        return None if self.score is None else round(self.score - self.penalty, 6)


HEADER = tuple(field.name for field in dataclasses.fields(Mark))


@dataclass(frozen=True)
class Marking:
    """How a class is marked: its roster and its deadlines. With a section, only its people can be missing."""

    roster: Roster | None = None
    deadlines: Deadlines = dataclasses.field(default_factory=Deadlines)
    section: str = ""
    by_module: Mapping[str, Deadlines] = dataclasses.field(default_factory=dict)  # in place of `deadlines`

    def deadlines_of(self, module: str) -> Deadlines:
        """Return the deadlines of a module."""
        return self.by_module.get(module, self.deadlines)

    def person(self, student: str | Identity) -> Person | None:
        """Return the person on the roster that a student is, if any."""
        return self.roster.find(student) if self.roster else None

    def handed_in_at(self, handed_in: SubmissionRef) -> datetime | None:
        """Return when a submission was handed in, if it is known."""
        deadlines = self.deadlines_of(handed_in.module)
        return deadlines.handed_in_at(self._names(handed_in), handed_in.module, handed_in.piece.attempt.handed_in)

    def _names(self, handed_in: SubmissionRef) -> list[str]:
        """Return the names that a student may have in a list of times. Names that two people share are left out."""
        who, person = handed_in.piece.who, self._person_of(handed_in)
        known = self.person(who)
        own = (person.id, who.label)
        return [*own, *(name for name in _other_names(person, who) if self.person(name) == known)]

    def _person_of(self, handed_in: SubmissionRef) -> Person:
        return self.person(handed_in.piece.who) or Person(_id_of(handed_in.student))

    def mark(self, handed_in: SubmissionRef, report: Report) -> Mark:
        """Return the mark of one report."""
        person = self._person_of(handed_in)
        names = self._names(handed_in)
        submitted_at = self.handed_in_at(handed_in)
        deadlines = self.deadlines_of(report.module)
        due = deadlines.due_at(names, report.module)
        late = deadlines.lateness(due, submitted_at)
        rule = deadlines.penalty
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
            handed_in=_iso(submitted_at) if submitted_at else "",
            due=_iso(due) if due else "",
            late_s=round(late.total_seconds(), 3),
            penalty=penalty,
            final=None if report.score is None else round(report.score - penalty, 6),
            attempt=handed_in.attempt,
            attempts=handed_in.attempts,
            needs_review=report.needs_review,
            provisional=bool(report.undecided_points),
            time_known=submitted_at is not None,
            marked_late=handed_in.piece.attempt.late,
        )

    def named(self, mark: Mark) -> Mark:
        """Return a mark of an earlier run with the student's current id, name and section on the roster."""
        person = self.person(mark.id) or self.person(mark.submission)
        if person is None:
            return mark
        return dataclasses.replace(mark, id=person.id, name=person.name, section=person.section)

    def missing(
        self,
        module: str,
        max_score: float,
        submitted: Collection[str],
        skipped: Mapping[tuple[str, str], str] = MappingProxyType({}),
    ) -> list[Mark]:
        """Return a mark without a score for each person on the roster whose id is not in `submitted`.

        `skipped` says why the work of others could not be graded, by module and id. The rest submitted nothing.
        """
        people = self.roster.people if self.roster else ()
        absent: list[Mark] = []
        for one in people:
            was_skipped = (module, one.id) in skipped
            if one.id not in submitted and (was_skipped or _in_section(one, self.section)):
                absent.append(
                    Mark(
                        id=one.id,
                        name=one.name,
                        section=one.section,
                        submission="",
                        module=module,
                        status=SKIPPED if was_skipped else MISSING,
                        score=None,
                        max_score=max_score,
                        handed_in="",
                        due="",
                        late_s=0.0,
                        penalty=0.0,
                        final=None,
                        attempt="",
                        attempts=0,
                        needs_review=False,
                        reason=skipped.get((module, one.id)),
                    )
                )
        return absent


def rescored(mark: Mark, report: Report, rule: Penalty | None) -> Mark:
    """Return a mark with the score of its report after a decision. `rule` is the late penalty of the last run."""
    penalty = mark.penalty
    if rule and mark.late_s and mark.penalty >= (mark.score or 0.0):  # the old score was too small for all of it
        penalty = rule.points(timedelta(seconds=mark.late_s), report.max_score)
    penalty = min(penalty, report.score or 0.0)
    return dataclasses.replace(
        mark,
        score=report.score,
        penalty=penalty,
        final=None if report.score is None else round(report.score - penalty, 6),
        needs_review=report.needs_review,
        provisional=bool(report.undecided_points),
    )


def best_of(marks: Mapping[str, Mark]) -> str:
    """Return the attempt that counts: the one with the highest final mark, and the earliest of those.

    An attempt that could not be graded comes first, because it may have been the best: the instructor must look at it.
    """
    return max(marks, key=lambda attempt: _rank(marks[attempt]))


def _in_section(person: Person, section: str) -> bool:
    """Whether a person is in a section. Canvas writes several as `Lab 2 and Monday`."""
    return not section or re.search(rf"(?<!\w){re.escape(section)}(?!\w)", person.section) is not None


def _other_names(person: Person, who: Identity) -> tuple[str, ...]:
    keys = (value for kind, value in who.keys if kind in ("id", "email", "github"))
    return tuple(dict.fromkeys((*person.other_names, *keys)))


def _id_of(student: str) -> str:
    """Return the id of a student who is not on the roster: their name, if it has nothing to escape or to confuse."""
    return student if visible_line(student) == student and "\\" not in student else plain_name(student)


def _rank(mark: Mark) -> tuple[bool, float, float]:
    submitted_at = datetime.fromisoformat(mark.handed_in).timestamp() if mark.handed_in else 0.0
    return (mark.final is None, mark.final or 0.0, -submitted_at)


def marks_lines(marks: Iterable[Mark]) -> Iterator[str]:
    """Yield the lines of the class list as CSV."""
    return csv_lines(HEADER, ([getattr(mark, name) for name in HEADER] for mark in marks))


def skipped_lines(mark: Mark) -> tuple[str, ...]:
    """Return what a student is told whose work could not be graded. Options are for the instructor."""
    why = _FOR_INSTRUCTORS.sub("", mark.reason or "").rstrip(". ")
    points = "You have no points for it yet, and this is not a 0."
    if mark.final is not None:
        points = f"Your course staff gave you {mark.final:g} of {mark.max_score:g} points."
    return (
        f"What you handed in could not be graded. {points}",
        f"The reason: {why}." if why else "",
        "Look at the file that you handed in. Then ask your course staff what to do.",
    )


def _iso(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds")

"""Pseudonyms: stable names that hide who a student is, from a second grader who must not know.

They come from a secret of the course, so that only who has the course can tell which student is behind one.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.classroom.marks import Mark
from grader.classroom.overrides import OverridesError
from grader.classroom.roster import Person, Roster, RosterError, normalize_name, read_roster
from grader.classroom.rules import read_rules
from grader.classroom.store.store import ResultsStore, SavedMarksError, read_marks
from grader.core.report import Report, report_from
from grader.core.safe_text import plain_name
from grader.course.course import Course
from grader.course.seeds import course_secret

PATTERN = re.compile(r"student-[a-z2-7]{8}")
SHORTEST = 3  # letters of a part of a name that is looked for in texts
# Keys of reports and items that never hold the words of a person.
_KEPT = frozenset(
    (
        *("schema", "module", "status", "sandbox", "environment", "timing", "name", "suite", "target", "outcome"),
        *(
            "property",
            "function",
            "meter",
            "law",
            "verdict",
            "kind",
            "during",
            "misconception",
            "what",
            "decision",
            "parts",
            "yours",
            "expected",
        ),
    )
)


@dataclass(frozen=True)
class Names:
    """All names of one student: the one that the pseudonym is made from, and others."""

    key: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pseudonyms:
    """The pseudonyms of a class."""

    secret: str
    people: tuple[Names, ...] = ()

    def of(self, student: str) -> str:
        """Return the pseudonym of a student, named as in the submission or, without one, by id."""
        digest = hmac.digest(self.secret.encode(), normalize_name(student).encode("utf-8", "surrogatepass"), "sha256")
        return "student-" + base64.b32encode(digest)[:8].decode().lower()

    def student(self, text: str) -> str:
        """Return the student behind a pseudonym; any other text as it is."""
        return next((one.key for one in self.people if PATTERN.fullmatch(text) and self.of(one.key) == text), text)

    def with_people(self, people: Iterable[Names]) -> Pseudonyms:
        """Return the pseudonyms for more people."""
        return replace(self, people=(*self.people, *people))

    def mark(self, mark: Mark) -> Mark:
        """Return a line of the class list without name and id."""
        shown = self.of(mark.submission or mark.id)
        submission = shown if mark.submission else ""
        return replace(
            mark,
            id=shown,
            name="",
            submission=submission,
            comment=self.text(mark.comment),
            reason=self.text(mark.reason) if mark.reason else None,
        )

    def report(self, report: Report) -> Report:
        """Return a report without the name of its student, also where the student's own text has it."""
        hidden = report_from(self.data(report.as_json()))
        return replace(hidden, submission=self.of(report.submission))

    def data(self, value: Any) -> Any:
        """Return JSON data with all names hidden that a person may have written."""
        if isinstance(value, dict):
            return {key: one if key in _KEPT else self.data(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.data(one) for one in value]
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """Return a text with a pseudonym for every name, id and part of a name that stands as a word of its own."""
        if self._words is None:
            return text
        return self._words.sub(lambda found: self._by_name.get(normalize_name(found[0]), found[0]), text)

    @cached_property
    def _by_name(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for one in self.people:
            for name in (one.key, plain_name(one.key), *one.others):
                names.setdefault(normalize_name(name), self.of(one.key))
        for one in self.people:  # after all full names, because a part may be another student's name
            for name in one.others:
                for part in _parts(name):
                    names.setdefault(normalize_name(part), self.of(one.key))
        names.pop("", None)
        return names

    @cached_property
    def _words(self) -> re.Pattern[str] | None:
        """The pattern of all names, the longest first. A part of a name counts only as it is written in the name."""
        full = {normalize_name(name) for one in self.people for name in (one.key, plain_name(one.key), *one.others)}
        full = {name for name in full if not name.isdecimal() or len(name) > SHORTEST}
        parts = {part for one in self.people for name in one.others for part in _parts(name)}
        words = [rf"(?i:{re.escape(name)})" for name in sorted(full - {""}, key=len, reverse=True)]
        words += [re.escape(part) for part in sorted(parts, key=len, reverse=True)]
        # Files are called ana_warm_up.py: an underscore ends a name too.
        return re.compile(rf"(?<![^\W_])(?:{'|'.join([PATTERN.pattern, *words])})(?![^\W_])") if words else None


def _parts(name: str) -> list[str]:
    """Return the words of a name that has several."""
    parts = re.split(r"[\s,]+", name)
    return [part for part in parts if len(part) >= SHORTEST and part[:1].isupper()] if len(parts) > 1 else []


def pseudonyms_of(course: Course, store: ResultsStore | None = None) -> Pseudonyms:
    """Return the pseudonyms of a course, for the people of a graded class and of its roster."""
    found = Pseudonyms(course_secret(course, "pseudonyms"))
    if store is None:
        return found
    try:
        marks = read_marks(store)
    except (SavedMarksError, OverridesError):
        marks = []  # unfinished: the reports themselves still have names
    names = [Names(one.name) for module in course.modules for one in store.stored(module.name)]
    names += [Names(mark.submission or mark.id, (mark.id, mark.name)) for mark in marks]
    path = read_rules(store).roster
    try:
        roster = read_roster(Path(path)) if path else None
    except RosterError:
        roster = None
    return found.with_people(names + people_of(roster, [mark.submission for mark in marks if mark.submission]))


def people_of(roster: Roster | None, students: Iterable[str]) -> list[Names]:
    """Return the names of submissions and of everybody on the roster."""
    names, seen = [], set()
    for student in students:
        person = roster.find(student) if roster else None
        seen.add(person)
        names.append(Names(plain_name(student), (student, *(_all_names(person) if person else ()))))
    absent = [person for person in roster.people if person not in seen] if roster else []
    return names + [Names(person.id, _all_names(person)) for person in absent]


def _all_names(person: Person) -> tuple[str, ...]:
    return (person.id, *person.other_names)

"""The roster: the students of a class, with id, name and section."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.core.csv_table import CsvError, read_csv
from grader.core.safe_text import plain_name

# The columns that we read, with the names that registrars and learning platforms give them.
_COLUMNS = {
    "id": (
        *("id", "student id", "student_id", "sis login id", "login", "username", "user", "sis user id", "net id"),
        *("id number", "student number", "orgdefinedid"),
    ),
    "name": ("name", "student", "full name", "full_name", "student name"),
    "first": ("first name", "first_name", "firstname", "given name"),
    "last": ("last name", "last_name", "lastname", "surname", "family name"),
    "section": ("section", "sections", "group", "groups", "class"),
    "email": ("email", "e-mail", "email address", "mail"),
}
_POINTS_POSSIBLE = "points possible"  # the second row of a Canvas export is not a student
# File names in downloads from Moodle and Canvas: `Ana Silva_123_assignsubmission_file_`, `silvaana_LATE_101_5551_work`.
# In the last two, the finder has taken the name from such a zip already.
_DOWNLOADS = (
    re.compile(r"(.+)_\d+_assignsubmission_"),
    re.compile(r"[^_]+(?:_late)?_(\d+)_\d+_", re.IGNORECASE),
    re.compile(r"(.+) \(Moodle \d+\)$"),
    re.compile(r".+ \(Canvas (\d+)\)$"),
)


class RosterError(Exception):
    """A roster that cannot be used, and why."""


@dataclass(frozen=True)
class Person:
    """One student of the class."""

    id: str
    name: str = ""
    section: str = ""
    email: str = ""
    accounts: tuple[str, ...] = ()  # other columns that look like an id

    @property
    def other_names(self) -> tuple[str, ...]:
        """Other names that their work may have: account, email address or name."""
        names = (*self.accounts, self.email, self.email.partition("@")[0], self.name)
        return tuple(name for name in names if name)


@dataclass(frozen=True)
class Roster:
    """The students of a class."""

    people: tuple[Person, ...]

    @cached_property
    def _by_other_name(self) -> dict[str, Person | None]:
        by_name: dict[str, Person | None] = {}
        for person in self.people:
            for name in dict.fromkeys(map(normalize_name, person.other_names)):
                by_name[name] = None if name in by_name else person  # a name that two people share finds neither
        return by_name

    @cached_property
    def _by_name(self) -> dict[str, Person | None]:
        return self._by_other_name | {normalize_name(person.id): person for person in self.people}

    def find_by_other_name(self, name: str) -> Person | None:
        """Return the only student with this account, email address or name."""
        return self._by_other_name.get(normalize_name(name))

    def find(self, student: str) -> Person | None:
        """Return the student with this id, or with this email address or name if only one student has it."""
        parts = [match[1] for pattern in _DOWNLOADS if (match := pattern.match(student))]
        names = (student, plain_name(student), *parts)  # a class list that was used as a roster has the plain name
        return next((person for name in names if (person := self._by_name.get(normalize_name(name)))), None)


def normalize_name(name: str) -> str:
    """Return a name in the form used for comparison: without case, with accents in one encoding."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


def read_roster(path: Path) -> Roster:
    """Read a roster: a CSV file with a column `id` and, optionally, `name` and `section`."""
    try:
        rows = read_csv(path.read_bytes())
    except OSError as error:
        raise RosterError(f"{path} cannot be read: {error.strerror}") from None
    except CsvError as error:
        raise RosterError(f"{path} {error}") from None
    people: dict[str, tuple[int, Person]] = {}
    for line, row in rows:
        person = _person(row)
        if normalize_name(person.name) == _POINTS_POSSIBLE or not (person.id or person.name):
            continue
        if not person.id:
            raise RosterError(f"{path}, line {line}: there is no id; the first line must name a column `id`")
        twin = people.setdefault(normalize_name(person.id), (line, person))
        if twin[0] != line:
            raise RosterError(f"{path}, line {line}: the id {person.id!r} is already in line {twin[0]}")
    if not people:
        needed = "a first line such as id,name,section and one line for each student"
        raise RosterError(f"{path} lists no students. It needs {needed}")
    return Roster(tuple(person for _, person in people.values()))


def _person(row: dict[str, str]) -> Person:
    found = {field: _first(row, names) for field, names in _COLUMNS.items()}
    name = found["name"] or " ".join(filter(None, (found["first"], found["last"])))
    accounts = tuple(row[column] for column in _COLUMNS["id"] if row.get(column))
    return Person(found["id"] or found["email"], name, found["section"], found["email"], accounts[1:])


def _first(row: dict[str, str], names: Iterable[str]) -> str:
    return next((row[name] for name in names if row.get(name)), "")

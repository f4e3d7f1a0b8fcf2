"""The roster: the students of a class, with id, name and section."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.classroom import ClassError
from grader.core.csv_table import CsvError, read_csv
from grader.core.safe_text import plain_name
from grader.submission.identity import Identity, KeyKind, folder_identity

# The columns that we read, with the names that registrars and learning platforms give them.
_COLUMNS = {
    "id": (
        *("id", "student id", "student_id", "sis login id", "login", "username", "user", "sis user id", "net id"),
        *("id number", "student number", "orgdefinedid", "sid", "identifier"),
    ),
    "name": ("name", "student", "full name", "full_name", "student name"),
    "first": ("first name", "first_name", "firstname", "given name"),
    "last": ("last name", "last_name", "lastname", "surname", "family name"),
    "section": ("section", "sections", "group", "groups", "class"),
    "email": ("email", "e-mail", "email address", "mail"),
    "github": ("github", "github_username", "github username", "github login", "github account", "github name"),
}
_POINTS_POSSIBLE = "points possible"  # the second row of a Canvas export is not a student
_PARTICIPANT = re.compile(r"participant (\d+)", re.IGNORECASE)  # in the worksheet of Moodle


class RosterError(ClassError):
    """A roster that cannot be used, and why."""


@dataclass(frozen=True)
class Person:
    """One student of the class."""

    id: str
    name: str = ""
    section: str = ""
    email: str = ""
    accounts: tuple[str, ...] = ()  # other columns that look like an id
    github: str = ""
    canvas: str = ""  # the number in Canvas, from its gradebook
    moodle: str = ""  # the number in Moodle, from its grading worksheet

    @property
    def other_names(self) -> tuple[str, ...]:
        """Other names that their work may have: account, email address or name."""
        names = (*self.accounts, self.email, self.email.partition("@")[0], self.github, self.name)
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

    @cached_property
    def _shared_ids(self) -> dict[str, list[Person]]:
        """The people by each text that is the id of one and an account of another."""
        ids = {normalize_name(person.id): person for person in self.people}
        shared: dict[str, list[Person]] = {}
        for person in self.people:
            for account in map(normalize_name, person.accounts):
                if ids.get(account, person) is not person:
                    shared.setdefault(account, [ids[account]]).append(person)
        return shared

    def find_by_other_name(self, name: str) -> Person | None:
        """Return the only student with this account, email address or name."""
        return self._by_other_name.get(normalize_name(name))

    @cached_property
    def _has_github(self) -> bool:
        return any(person.github for person in self.people)

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], list[Person]]:
        """The people by each kind of key. A name is compared as letters only, whichever part comes first."""
        by_key: dict[tuple[str, str], list[Person]] = {}
        for person in self.people:
            keys: list[tuple[str, str]] = [(kind, getattr(person, kind)) for kind in ("canvas", "moodle", "email")]
            keys += [("id", one) for one in (person.id, *person.accounts)]
            logins = (person.id, *person.accounts, _account(person.email))
            keys += [("github", one) for one in ((person.github,) if self._has_github else logins)]
            keys += [("name", one) for one in _spellings(person.name)]
            for key in dict.fromkeys((kind, _comparable(kind, value)) for kind, value in keys if value):
                by_key.setdefault(key, []).append(person)
        return by_key

    def find(self, student: str | Identity) -> Person | None:
        """Return the person on the roster that a student is, if there is exactly one."""
        people = self.matches(student)
        return people[0] if len(people) == 1 else None

    def matches(self, student: str | Identity) -> list[Person]:
        """Return the people on the roster that a student may be. If there are several, nothing is guessed."""
        who = folder_identity(student) if isinstance(student, str) else student
        folders = who.all("folder")
        meant = [people for name in folders if (people := self._named_by_folder(name))]
        if meant:
            return list({one.id: one for people in meant for one in people}.values())
        named = [person for kind in ("name", "folder") for name in who.all(kind) for person in self._of("name", name)]
        found = [one for kind in _CERTAIN for value in who.all(kind) for one in self._of(kind, value)]
        # The number of a platform may also be the id of another student here, so the name must agree.
        found += [one for value in who.all("canvas") for one in self._of("id", value) if one in named]
        unique = list({one.id: one for one in (found or named)}.values())
        if len(unique) == 1 and named and unique[0] not in named:
            return list({one.id: one for one in (*unique, *named)}.values())
        return [one for one in unique if one in named or not _is_another(one, who)]

    def _named_by_folder(self, name: str) -> list[Person]:
        """Return the people that the name of a folder means: one, or several if it is the id and account of two."""
        for spelling in (name, plain_name(name)):  # a class list that was used as a roster has the plain name
            if shared := self._shared_ids.get(normalize_name(spelling)):
                return shared
            if person := self._by_name.get(normalize_name(spelling)):
                return [person]
        return []

    def _of(self, kind: KeyKind, value: str) -> list[Person]:
        return self._by_key.get((kind, _comparable(kind, value)), [])


def _is_another(person: Person, who: Identity) -> bool:
    """Whether only Moodle's number finds a person, and the name is another one: then it is the number of a group.

    In Canvas, the number beside the name of a group is that of one member.
    """
    numbered = bool(who.all("moodle"))
    names = [_comparable("name", name) for name in who.all("name")]
    own = [_comparable("name", name) for name in _spellings(person.name)]
    return numbered and bool(names) and bool(own) and not any(a in b or b in a for a in names for b in own)


_CERTAIN: tuple[KeyKind, ...] = ("canvas", "moodle", "id", "email", "github")


def _account(email: str) -> str:
    return email.partition("@")[0]


def _spellings(name: str) -> list[str]:
    """Return a name with each of its parts first: Canvas writes `silvaana` for Ana Silva."""
    last, comma, first = name.partition(",")
    parts = (f"{first} {last}" if comma else name).split()
    return ["".join(parts[start:] + parts[:start]) for start in range(len(parts))]


def _comparable(kind: str, value: str) -> str:
    if kind != "name":
        return normalize_name(value)
    plain = unicodedata.normalize("NFKD", value.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def normalize_name(name: str) -> str:
    """Return a name in the form used for comparison: without case, with accents in one encoding."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


def read_roster(path: Path) -> Roster:
    """Read a roster: a CSV file with a column `id` and, optionally, `name` and `section`."""
    try:
        return roster_from(str(path), path.read_bytes())
    except OSError as error:
        raise RosterError(f"{path} cannot be read: {error.strerror}") from None


def roster_from(path: str, data: bytes) -> Roster:
    """Return a roster from the content of its file. The path is for messages."""
    try:
        rows = read_csv(data)
    except CsvError as error:
        raise RosterError(f"{path} {error}") from None
    people: dict[str, tuple[int, Person]] = {}
    for line, row in rows:
        person = _person(row)
        if normalize_name(person.name) == _POINTS_POSSIBLE or _is_empty(row, person):
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


def _is_empty(row: dict[str, str], person: Person) -> bool:
    """Whether a line is no student's: it is empty, or it is a line of Canvas about its assignments."""
    of_canvas = "student" in row or "sis login id" in row or "sis user id" in row
    return not (person.id or person.name) and (of_canvas or not any(row.values()))


def _person(row: dict[str, str]) -> Person:
    found = {field: _first(row, names) for field, names in _COLUMNS.items()}
    name = found["name"] or " ".join(filter(None, (found["first"], found["last"])))
    accounts = tuple(row[column] for column in _COLUMNS["id"] if row.get(column))
    participant = _PARTICIPANT.fullmatch(row.get("identifier", ""))
    if participant and found["id"] == participant[0]:
        found["id"] = found["email"] or found["id"]
    is_canvas = bool(row.get("sis login id") or row.get("sis user id"))
    return Person(
        id=found["id"] or found["email"],
        name=name,
        section=found["section"],
        email=found["email"],
        accounts=accounts[1:],  # the first is the id
        github=found["github"],
        canvas=row.get("id", "") if is_canvas else "",
        moodle=participant[1] if participant else "",
    )


def _first(row: dict[str, str], names: Iterable[str]) -> str:
    return next((row[name] for name in names if row.get(name)), "")

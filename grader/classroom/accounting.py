"""Accounting: every file that was found and every person on the roster is in exactly one line, and the lines add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal

from grader.classroom.marks import Mark, Marking
from grader.core.disk_table import DiskList, form_of
from grader.core.json_record import to_json
from grader.core.safe_text import plain_name
from grader.core.times import show_time
from grader.submission.found import FATES, FileLine, FoundSubmissions
from grader.submission.identity import Identity

PersonFate = Literal["graded", "skipped", "missing"]
PERSON_FATES: tuple[PersonFate, ...] = ("graded", "skipped", "missing")


@dataclass(frozen=True, slots=True)
class PersonLine:
    """What became of one person on the roster in one module."""

    fate: PersonFate
    module: str
    id: str
    name: str
    reason: str = ""
    path: str = ""  # of what was skipped


@dataclass(frozen=True)
class Accounting:
    """The lines of a run: one for each file, and one for each person on the roster and module."""

    files: Sequence[FileLine]
    people: tuple[PersonLine, ...]
    strangers: tuple[str, ...]  # students with work who are not on the roster
    doubtful: tuple[tuple[str, tuple[str, ...]], ...]  # students who may be several people on the roster: their ids

    @property
    def skipped_people(self) -> dict[tuple[str, str], str]:
        """The module and id of each person on the roster whose work was skipped: the name of the file, and why."""
        skipped = (line for line in self.people if line.fate == "skipped")
        return {(line.module, line.id): f"{PurePath(line.path).name}: {line.reason}" for line in skipped}

    @property
    def has_skipped(self) -> bool:
        """Whether work of a person was skipped."""
        return any(line.fate == "skipped" for line in self.files)

    def sums(self) -> list[str]:
        """Return the sums: of the files, and of the people on the roster for each module."""
        counts = Counter(line.fate for line in self.files)
        lines = [f"{_count(len(self.files), 'file')}: {_parts((fate, counts[fate]) for fate in FATES)}"]
        for module in dict.fromkeys(line.module for line in self.people):
            of_module = Counter(line.fate for line in self.people if line.module == module)
            parts = _parts((fate, of_module[fate]) for fate in PERSON_FATES)
            lines.append(f"{module}: {of_module.total()} on the roster: {parts}")
        if self.strangers:
            lines[-1] += f"; {len(self.strangers)} not on the roster"
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the lines as JSON, with the sums."""
        return {
            "files": [_file_json(line) for line in self.files],
            "people": [to_json(line) for line in self.people],
            "not_on_the_roster": list(self.strangers),
            "ambiguous": [{"student": student, "may_be": list(ids)} for student, ids in self.doubtful],
            "sums": self.sums(),
        }


def account(found: FoundSubmissions, marking: Marking, modules: Sequence[str] = ()) -> Accounting:
    """Account for everything that was found. `modules` are those that were asked for, even if there is no work."""
    lines = _timed(found, marking)
    if marking.roster is None:
        return Accounting(lines, (), (), ())
    graded = {one.module for one in found.handed_in}
    people = tuple(_person_lines(found, marking, sorted(graded | set(modules))))
    strangers = {one.student for one in found.handed_in if marking.person(one.piece.who) is None}
    work = (who for line in found.lines if line.fate in ("graded", "skipped") for who in line.who)
    several = {who.label: ids for who in work if len(ids := _matches(marking, who)) > 1}
    return Accounting(lines, people, tuple(sorted(strangers)), tuple(sorted(several.items())))


def _timed(found: FoundSubmissions, marking: Marking) -> Sequence[FileLine]:
    """Return the lines of the files with the times that --times gives."""
    if not any(one.handed_in for one in (marking.deadlines, *marking.by_module.values())):
        return found.lines
    times = {one.piece.location.origin: marking.handed_in_at(one) for one in found.handed_in}

    def timed(line: FileLine) -> FileLine:
        when = times.get(line.path) if line.fate == "graded" else None
        return replace(line, handed_in=when.timestamp()) if when else line

    return DiskList(form_of(FileLine), map(timed, found.lines))


def settled(accounting: Accounting, marks: Iterable[Mark]) -> Accounting:
    """Return the accounting after grading: of several graded attempts, all but the best are not counted."""
    counting = {(mark.module, mark.submission): mark.attempt for mark in marks if mark.attempt}
    if not counting:
        return accounting

    def settled_line(line: FileLine) -> FileLine:
        chosen = {counting.get((line.module, plain_name(who.label)), "") for who in line.who}
        if line.fate != "graded" or not line.attempt or line.attempt in chosen:
            return line
        return replace(line, fate="not counted", reason=f"attempt {', '.join(sorted(chosen))} has the best mark")

    return replace(accounting, files=DiskList(form_of(FileLine), map(settled_line, accounting.files)))


def _person_lines(found: FoundSubmissions, marking: Marking, modules: Sequence[str]) -> Iterator[PersonLine]:
    """Yield a line for each person on the roster and module."""
    graded = {(person.id, one.module) for one in found.handed_in if (person := marking.person(one.piece.who))}
    skipped: dict[tuple[str, str], tuple[str, str]] = {}
    for line in found.lines:
        for who in line.who if line.fate == "skipped" else ():
            if person := marking.person(who):
                for module in (line.module,) if line.module else modules:
                    skipped.setdefault((person.id, module), (line.reason, line.path))
    for module in modules:
        for person in marking.roster.people if marking.roster else ():
            key = person.id, module
            fate: PersonFate = "graded" if key in graded else "skipped" if key in skipped else "missing"
            yield PersonLine(fate, module, person.id, person.name, *(skipped[key] if fate == "skipped" else ()))


def _matches(marking: Marking, who: Identity) -> tuple[str, ...]:
    return tuple(person.id for person in marking.roster.matches(who)) if marking.roster else ()


def _file_json(line: FileLine) -> dict[str, Any]:
    return {
        "fate": line.fate,
        "path": line.path,
        "reason": line.reason,
        "students": [who.label for who in line.who],
        "module": line.module,
        "handed_in": show_time(line.handed_in) if line.handed_in is not None else None,
        "marked_late": line.late,
        "attempt": line.attempt,
    }


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def _parts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{number} {fate}" for fate, number in counts if number) or "nothing"

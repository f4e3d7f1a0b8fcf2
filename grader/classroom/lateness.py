"""Lateness: due dates, extensions, and what handing in late costs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from grader.classroom.roster import normalize_name
from grader.core.csv_table import CsvError, read_csv
from grader.core.times import TimeError, read_length, read_time
from grader.course.course import Course
from grader.course.module import CourseError

_PENALTY = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)\s*/\s*(\d*(?:\.\d+)?\s*[a-z]+)", re.IGNORECASE)
_WHO = ("id", "student", "student id", "student_id", "username", "login", "email")

# When something is due, or was handed in: by student and module, each "" for all.
TimesByStudent = Mapping[tuple[str, str], datetime]


class LateError(Exception):
    """A due date, an extension or a penalty that cannot be used, and why."""


@dataclass(frozen=True)
class Penalty:
    """What each begun period costs: points, or a share of the points possible."""

    amount: float
    of_possible: bool
    period: timedelta

    def points(self, late: timedelta, max_score: float) -> float:
        """Return the points that being late by some time costs."""
        each = self.amount * max_score / 100 if self.of_possible else self.amount
        return round(math.ceil(late / self.period) * each, 6)


@dataclass(frozen=True)
class Deadlines:
    """When each student's work is due, when it came, and what it costs to be late."""

    due: TimesByStudent = field(default_factory=dict)
    extensions: TimesByStudent = field(default_factory=dict)
    handed_in: TimesByStudent = field(default_factory=dict)  # told by others, where the files' own times mean nothing
    penalty: Penalty | None = None
    grace: timedelta = timedelta()

    def due_at(self, names: Iterable[str], module: str) -> datetime | None:
        """Return when a student's work is due; an extension never makes that earlier."""
        due = _moments(self.due, ("",), module)
        return max((*due[:1], *_moments(self.extensions, names, module))) if due else None

    def handed_in_at(self, names: Iterable[str], module: str, file_time: float | None) -> datetime | None:
        """Return when a student's work came: as told, else by the time of its file, if that is known."""
        told = _moments(self.handed_in, names, module)
        if told:
            return told[0]
        return None if file_time is None else datetime.fromtimestamp(file_time, UTC)

    def unknown(self, is_known: Callable[[str], bool]) -> list[str]:
        """Return who has an extension or a time and is nobody: a name mistyped would be silently late."""
        return sorted({who for who, _ in (*self.extensions, *self.handed_in) if not is_known(who)})

    def lateness(self, due: datetime | None, handed_in: datetime | None) -> timedelta:
        """Return how late something is, counted from when it was due; nothing within the grace."""
        late = handed_in - due if due and handed_in else timedelta()
        return late if late > self.grace else timedelta()


def _moments(moments: TimesByStudent, names: Iterable[str], module: str) -> list[datetime]:
    """Return the moments that are said for a student: for the module first, then for all modules."""
    keys = dict.fromkeys((normalize_name(name), one) for one in (module, "") for name in names)
    return [moments[key] for key in keys if key in moments]


def read_penalty(text: str) -> Penalty:
    """Return a penalty from a text such as `10%/day` or `2/12h`."""
    match = _PENALTY.fullmatch(text.strip())
    try:
        if match is None:
            raise TimeError
        period = read_length(match[3] if match[3][0].isdigit() else f"1{match[3]}")
    except TimeError:
        period = timedelta()
    if match is None or not period:
        raise LateError(f"{text!r} is no late penalty: write 10%/day (of the points possible) or 2/12h (points)")
    return Penalty(float(match[1]), bool(match[2]), period)


def read_due(course: Course, texts: Iterable[str]) -> TimesByStudent:
    """Return due dates from texts such as `2026-10-01 23:59`, for all modules, or `softmax=2026-10-01`."""
    due: dict[tuple[str, str], datetime] = {}
    for text in texts:
        module, equals, when = text.rpartition("=")
        name = course.module(module.strip()).name if equals else ""
        try:
            moment = read_time(when)
        except TimeError as error:
            raise LateError(str(error)) from None
        if due.setdefault(("", name), moment) != moment:
            raise LateError(f"there are two due dates for {name or 'all modules'}")
    return due


def read_moments(course: Course, path: Path, column: str) -> TimesByStudent:
    """Read a CSV file of moments: who (`id`), when (a column of its own name), and `module` where it is not all."""
    moments: dict[tuple[str, str], datetime] = {}
    try:
        for line, row in read_csv(path.read_bytes()):
            who = next((row[name] for name in _WHO if row.get(name)), "")
            if not who or not row.get(column):
                raise LateError(f"{path}, line {line}: it needs the columns id and {column}, and may have module")
            name = course.module(row["module"]).name if row.get("module") else ""
            try:
                when = read_time(row[column])
            except TimeError as error:
                raise LateError(f"{path}, line {line}: {error}") from None
            if moments.setdefault((normalize_name(who), name), when) != when:
                raise LateError(f"{path}, line {line}: {who} has another {column} above")
    except OSError as error:
        raise LateError(f"{path} cannot be read: {error.strerror}") from None
    except (CsvError, CourseError) as error:
        raise LateError(f"{path}: {error}") from None
    return moments

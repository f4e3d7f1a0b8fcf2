"""Lateness: due dates, extensions, and what handing in late costs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from grader.course import Course
from grader.module import CourseError
from grader.roster import folded
from grader.sheet import SheetError, read_sheet
from grader.when import WhenError, read_length, read_when

_PENALTY = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)\s*/\s*(\d*(?:\.\d+)?\s*[a-z]+)", re.IGNORECASE)
_WHO = ("id", "student", "student id", "student_id", "username", "login", "email")

# When something is due, or was handed in: by student and module, each "" for all.
Moments = Mapping[tuple[str, str], datetime]


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

    due: Moments = field(default_factory=dict)
    extensions: Moments = field(default_factory=dict)
    handed_in: Moments = field(default_factory=dict)  # told by others, where the files' own times mean nothing
    penalty: Penalty | None = None
    grace: timedelta = timedelta()

    def due_at(self, names: Iterable[str], module: str) -> datetime | None:
        """Return when a student's work is due; an extension never makes that earlier."""
        due = _moment(self.due, ("",), module)
        extension = _moment(self.extensions, names, module)
        return max(filter(None, (due, extension)), default=None) if due else None

    def handed_in_at(self, names: Iterable[str], module: str, file_time: float) -> datetime:
        """Return when a student's work came: as told, else by the time of its file."""
        return _moment(self.handed_in, names, module) or datetime.fromtimestamp(file_time, UTC)

    def lateness(self, due: datetime | None, handed_in: datetime) -> timedelta:
        """Return how late something is, counted from when it was due; nothing within the grace."""
        late = handed_in - due if due else timedelta()
        return late if late > self.grace else timedelta()


def _moment(moments: Moments, names: Iterable[str], module: str) -> datetime | None:
    """Return the moment that is said for a student's module, or else for all their modules."""
    keys = [(folded(name), one) for one in (module, "") for name in names]
    return next((moments[key] for key in keys if key in moments), None)


def read_penalty(text: str) -> Penalty:
    """Return a penalty from a text such as `10%/day` or `2/12h`."""
    match = _PENALTY.fullmatch(text.strip())
    try:
        if match is None:
            raise WhenError
        period = read_length(match[3] if match[3][0].isdigit() else f"1{match[3]}")
    except WhenError:
        period = timedelta()
    if match is None or not period:
        raise LateError(f"{text!r} is no late penalty: write 10%/day (of the points possible) or 2/12h (points)")
    return Penalty(float(match[1]), bool(match[2]), period)


def read_due(course: Course, texts: Iterable[str]) -> Moments:
    """Return due dates from texts such as `2026-10-01 23:59`, for all modules, or `softmax=2026-10-01`."""
    due: dict[tuple[str, str], datetime] = {}
    for text in texts:
        module, equals, when = text.rpartition("=")
        name = course.module(module.strip()).name if equals else ""
        try:
            moment = read_when(when)
        except WhenError as error:
            raise LateError(str(error)) from None
        if due.setdefault(("", name), moment) != moment:
            raise LateError(f"there are two due dates for {name or 'all modules'}")
    return due


def read_moments(course: Course, path: Path, column: str) -> Moments:
    """Read a CSV file of moments: who (`id`), when (a column of its own name), and `module` where it is not all."""
    moments: dict[tuple[str, str], datetime] = {}
    try:
        for line, row in read_sheet(path.read_bytes()):
            who = next((row[name] for name in _WHO if row.get(name)), "")
            if not who or not row.get(column):
                raise LateError(f"{path}, line {line}: it needs the columns id and {column}, and may have module")
            name = course.module(row["module"]).name if row.get("module") else ""
            try:
                when = read_when(row[column])
            except WhenError as error:
                raise LateError(f"{path}, line {line}: {error}") from None
            moments[folded(who), name] = when
    except OSError as error:
        raise LateError(f"{path} cannot be read: {error.strerror}") from None
    except (SheetError, CourseError) as error:
        raise LateError(f"{path}: {error}") from None
    return moments

"""Due dates, extensions and late penalties."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from grader.classroom import ClassError
from grader.classroom.roster import normalize_name
from grader.core.csv_table import CsvError, read_csv
from grader.core.times import TimeError, read_length, read_time
from grader.course.course import Course
from grader.course.module import CourseError

_PENALTY = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)\s*/\s*(\d*(?:\.\d+)?\s*[a-z]+)", re.IGNORECASE)
_ID_COLUMNS = ("id", "student", "student id", "student_id", "username", "login", "email")

# The time at which work is due or was submitted, by student and module; "" stands for all students or modules.
TimesByStudent = Mapping[tuple[str, str], datetime]


class LateError(ClassError):
    """A due date, an extension or a penalty that cannot be used, and why."""


@dataclass(frozen=True)
class Penalty:
    """The cost of each started period: points, or a share of the points possible."""

    amount: float
    of_possible: bool  # whether `amount` is a percentage of the points possible
    period: timedelta

    def points(self, late: timedelta, max_score: float) -> float:
        """Return the points that are lost for being late by some time."""
        each = self.amount * max_score / 100 if self.of_possible else self.amount
        return round(math.ceil(late / self.period) * each, 6)


@dataclass(frozen=True)
class Deadlines:
    """When each student's work is due, when it was submitted, and the penalty for late work."""

    due: TimesByStudent = field(default_factory=dict)
    extensions: TimesByStudent = field(default_factory=dict)
    handed_in: TimesByStudent = field(default_factory=dict)  # from --times, used instead of the files' own times
    penalty: Penalty | None = None
    grace: timedelta = timedelta()

    def due_at(self, names: Iterable[str], module: str) -> datetime | None:
        """Return when a student's work is due. An extension never makes it due earlier."""
        due = _times_for(self.due, ("",), module)
        return max((*due[:1], *_times_for(self.extensions, names, module))) if due else None

    def handed_in_at(self, names: Iterable[str], module: str, file_time: float | None) -> datetime | None:
        """Return when a student's work was submitted: the listed time, or else that of its file, if known."""
        listed = _times_for(self.handed_in, names, module)
        if listed:
            return listed[0]
        return None if file_time is None else datetime.fromtimestamp(file_time, UTC)

    def unknown(self, is_known: Callable[[str], bool]) -> list[str]:
        """Return the names in --extensions and --times that are not students. A typing error would be ignored."""
        return sorted({name for name, _ in (*self.extensions, *self.handed_in) if not is_known(name)})

    def lateness(self, due: datetime | None, handed_in: datetime | None) -> timedelta:
        """Return how late a submission is, counted from the due date; zero within the grace period."""
        late = handed_in - due if due and handed_in else timedelta()
        return late if late > self.grace else timedelta()


def _times_for(times: TimesByStudent, names: Iterable[str], module: str) -> list[datetime]:
    """Return the times that apply to a student: those for the module first, then those for all modules."""
    keys = dict.fromkeys((normalize_name(name), one) for one in (module, "") for name in names)
    return [times[key] for key in keys if key in times]


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
        raise LateError(f"{text!r} is not a late penalty: write 10%/day (of the points possible) or 2/12h (points)")
    return Penalty(float(match[1]), bool(match[2]), period)


def read_due(course: Course, texts: Iterable[str]) -> TimesByStudent:
    """Return due dates from texts such as `2026-10-01 23:59`, for all modules, or `warm_up=2026-10-01`."""
    due: dict[tuple[str, str], datetime] = {}
    for text in texts:
        module, equals, date = text.rpartition("=")
        name = course.module(module.strip()).name if equals else ""
        try:
            time = read_time(date)
        except TimeError as error:
            raise LateError(str(error)) from None
        if due.setdefault(("", name), time) != time:
            raise LateError(f"there are two due dates for {name or 'all modules'}")
    return due


def read_times(course: Course, path: str, data: bytes, column: str) -> TimesByStudent:
    """Read a CSV file with the columns `id`, a time (`column`) and, if it is for one module only, `module`."""
    times: dict[tuple[str, str], datetime] = {}
    try:
        for line, row in read_csv(data):
            student = next((row[name] for name in _ID_COLUMNS if row.get(name)), "")
            if not student or not row.get(column):
                raise LateError(f"{path}, line {line}: it needs the columns id and {column}, and may have module")
            module = course.module(row["module"]).name if row.get("module") else ""
            try:
                time = read_time(row[column])
            except TimeError as error:
                raise LateError(f"{path}, line {line}: {error}") from None
            if times.setdefault((normalize_name(student), module), time) != time:
                raise LateError(f"{path}, line {line}: {student} has a different {column} in a line above")
    except (CsvError, CourseError) as error:
        raise LateError(f"{path}: {error}") from None
    return times

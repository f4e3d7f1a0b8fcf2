"""The rules of a class in `course.toml`, for every grading."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

from grader.classroom.lateness import LateError, read_penalty
from grader.classroom.roster import normalize_name
from grader.classroom.rules import Extension, Rules
from grader.classroom.totals import Missing, TotalRules
from grader.core.report import Undecided
from grader.core.times import TimeError, read_length, read_time
from grader.course.course import Course
from grader.course.course_file import COURSE_FILE, check_keys, read_course_file
from grader.course.module import CourseError
from grader.submission.choose import Policy

ALL = "all"  # the key of a due date for all modules
EXAMPLES = {
    "name": 'name = "Attention, autumn 2026"',
    "section": 'section = "Monday"',
    "roster": 'roster = "class.csv"',
    "policy": 'policy = "latest"',
    "late_penalty": 'late_penalty = "10%/day"',
    "grace": 'grace = "15m"',
    "undecided": 'undecided = "count"',
    "file_times": "file_times = true",
    "due": "due = {all = 2026-10-01, warm_up = 2026-09-24}",
    "extensions": 'extensions = [{student = "ana", module = "warm_up", until = 2026-10-08}]',
    "totals": 'totals = {missing = "zero", drop = 1, excused = [{student = "ana", module = "warm_up"}]}',
}
_EXTENSION = ("student", "module", "until")
_TOTALS = tuple(field.name for field in dataclasses.fields(TotalRules))


def read_course_rules(course: Course) -> Rules:
    """Return the rules in a course's `course.toml`, or no rules if it has none. A mistake is a CourseError."""
    return _Reader(course, course.root / COURSE_FILE, read_course_file(course.root).rules).rules()


def read_total_rules(course: Course) -> TotalRules:
    """Return how `course.toml` adds up the marks of a student. A mistake is a CourseError."""
    return _Reader(course, course.root / COURSE_FILE, read_course_file(course.root).rules).totals()


class _Reader:
    """Reads the keys of one `course.toml`."""

    def __init__(self, course: Course, path: Path, table: Mapping[str, Any]) -> None:
        self.course = course
        self.path = path
        self.table = table

    def rules(self) -> Rules:
        extensions = self.table.get("extensions", ())
        is_file = type(extensions) is str
        rules = Rules(
            roster=self._file("roster"),
            policy=self._choice("policy", get_args(Policy)),
            due=self._due(),
            extensions=self._file("extensions") if is_file else None,
            late_penalty=self._checked("late_penalty", read_penalty),
            grace=self._checked("grace", read_length),
            undecided=self._choice("undecided", get_args(Undecided)),
            extended=() if is_file else self._extended(extensions),
            section=self._text("section"),
            name=self._text("name"),
            file_times=self._switch("file_times"),
        )
        if not rules.due:
            for key in ("late_penalty", "grace", "extensions"):
                if key in self.table:
                    raise self._error(key, "needs a due date", f"Add a line like {EXAMPLES['due']}")
        self.totals()  # a mistake is told before a class is graded
        return rules

    def totals(self) -> TotalRules:
        """Return the rules in the table `totals`."""
        table = self.table.get("totals", {})
        if type(table) is not dict:
            raise self._error("totals", f"must be a table, not {table!r}", f"Write it like {EXAMPLES['totals']}")
        check_keys(self.path, table, _TOTALS, "totals.")
        missing, drop = table.get("missing", "zero"), table.get("drop", 0)
        if missing not in get_args(Missing):
            raise self._error("totals.missing", f"cannot be {missing!r}", 'Write "zero" or "left out"')
        if type(drop) is not int or drop < 0:
            raise self._error("totals.drop", f"must be a number of results, not {drop!r}", "Write it like drop = 1")
        return TotalRules(missing, drop, self._excused(table), self._weights(table), self._extra(table))

    def _excused(self, table: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        fix = 'Write it like excused = [{student = "ana", module = "warm_up"}]'
        value = table.get("excused", [])
        if type(value) is not list or not all(type(one) is dict for one in value):
            raise self._error("totals.excused", f"must be a list of tables, not {value!r}", fix)
        found = []
        for number, one in enumerate(value, 1):
            key = f"totals.excused[{number}]"
            check_keys(self.path, one, _EXTENSION[:2], f"{key}.")
            student, module = one.get("student"), one.get("module")
            if type(student) is not str or not student.strip():
                raise self._error(f"{key}.student", "must name a student", fix)
            found.append((student.strip(), "" if module is None else self._module(f"{key}.module", module)))
        return tuple(found)

    def _weights(self, table: Mapping[str, Any]) -> dict[str, float]:
        """Return the points that modules count, by their full names."""
        value, fix = table.get("weights", {}), "Write it like weights = {warm_up = 20}"
        if type(value) is not dict:
            raise self._error("totals.weights", f"must be a table, not {value!r}", fix)
        found: dict[str, float] = {}
        for key, weight in value.items():
            name = self._module(f"totals.weights.{key}", key)
            if type(weight) not in (int, float) or not 0 <= weight < float("inf"):
                raise self._error(f"totals.weights.{key}", f"must be a number of points, not {weight!r}", fix)
            if name in found:
                raise self._error(f"totals.weights.{key}", f"is a second weight for {name}", "Keep one of them")
            found[name] = float(weight)
        return found

    def _extra(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        value = table.get("extra", [])
        if type(value) is not list:
            raise self._error("totals.extra", f"must be a list, not {value!r}", 'Write it like extra = ["warm_up"]')
        return tuple(self._module("totals.extra", one) for one in value)

    def _switch(self, key: str) -> bool:
        value = self.table.get(key, False)
        if type(value) is not bool:
            raise self._error(key, f"must be true or false, not {value!r}", f"Write it like {EXAMPLES[key]}")
        return value

    def _due(self) -> tuple[str, ...]:
        """Return due dates as `--due` takes them."""
        value = self.table.get("due", {})
        if type(value) is not dict:
            return (self._time("due", value),)
        found: dict[str, str] = {}
        for key, when in value.items():
            name = "" if key == ALL else self._module(f"due.{key}", key)
            if name in found:
                raise self._error(f"due.{key}", f"is a second due date for {name}", "Keep one of them")
            found[name] = self._time(f"due.{key}", when)
        return tuple(f"{name}={when}" if name else when for name, when in found.items())

    def _extended(self, value: object) -> tuple[Extension, ...]:
        fix = f"Write it like {EXAMPLES['extensions']}, or name a CSV file"
        if not isinstance(value, list | tuple) or not all(type(one) is dict for one in value):
            raise self._error("extensions", f"must be a list of tables or a file, not {value!r}", fix)
        found: dict[tuple[str, str], Extension] = {}
        for number, table in enumerate(value, 1):
            one = self._extension(f"extensions[{number}]", table, fix)
            if found.setdefault((normalize_name(one.student), one.module), one) is not one:
                problem = f"{one.student} has an extension for the same module above"
                raise self._error(f"extensions[{number}]", problem, "Keep one of them")
        return tuple(found.values())

    def _extension(self, key: str, table: Mapping[str, Any], fix: str) -> Extension:
        check_keys(self.path, table, _EXTENSION, f"{key}.")
        student = table.get("student")
        if type(student) is not str or not student.strip():
            raise self._error(f"{key}.student", "must name a student", fix)
        if "until" not in table:
            raise self._error(f"{key}.until", "is missing", fix)
        module = table.get("module")
        name = "" if module is None else self._module(f"{key}.module", module)
        return Extension(student.strip(), name, self._time(f"{key}.until", table["until"]))

    def _module(self, key: str, value: object) -> str:
        """Return the full name of a module that may be given by name, slug or number."""
        try:
            return self.course.module(str(value)).name
        except CourseError as error:
            fix = (
                error.fix
                if key.startswith(("extensions", "totals"))
                else f"{error.fix}. For all modules, write {ALL} = ..."
            )
            raise self._error(key, f"there is no module {str(value)!r}", fix) from None

    def _time(self, key: str, value: object) -> str:
        """Return a time as text. TOML has dates and times of its own, and a text is fine too."""
        text = value if type(value) is str else value.isoformat() if isinstance(value, date | datetime) else None
        if text is None:
            raise self._error(key, f"must be a date, not {value!r}", "Write it like 2026-10-01 or 2026-10-01T23:59:00")
        try:
            read_time(text)
        except TimeError as error:
            problem, _, fix = str(error).partition(". ")
            raise self._error(key, problem, fix) from None
        return text

    def _text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and (type(value) is not str or not value.strip()):
            raise self._error(key, f"must be text, not {value!r}", f"Write it like {EXAMPLES[key]}")
        return value

    def _checked(self, key: str, read: Callable[[str], object]) -> str | None:
        """Return a text that a reader of rules accepts."""
        text = self._text(key)
        try:
            if text is not None:
                read(text)
        except (LateError, TimeError) as error:
            raise self._error(key, str(error).partition(". ")[0], f"Write it like {EXAMPLES[key]}") from None
        return text

    def _choice(self, key: str, choices: tuple[Any, ...]) -> Any:
        value = self.table.get(key)
        if value is not None and value not in choices:
            allowed = " or ".join(f'{key} = "{choice}"' for choice in choices)
            raise self._error(key, f"cannot be {value!r}", f"Write {allowed}")
        return value

    def _file(self, key: str) -> str | None:
        """Return the full path of a file, which the rules name as seen from the course's root."""
        text = self._text(key)
        if text is None:
            return None
        path = (self.course.root / text).resolve()
        if not path.is_file():
            problem = "is a folder" if path.is_dir() else "is not there"
            fix = f"Name a CSV file, as seen from {self.course.root}"
            raise self._error(key, f"{text} {problem}", fix)
        return str(path)

    def _error(self, key: str, problem: str, fix: str) -> CourseError:
        return CourseError(self.path, key, problem, fix, usage=True)

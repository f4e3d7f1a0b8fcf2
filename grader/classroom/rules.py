"""The rules of a class: roster, due dates, penalties, and which attempt counts. They are kept with the reports."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from grader.classroom import ClassError
from grader.classroom.lateness import Deadlines, read_due, read_penalty, read_times
from grader.classroom.marks import Marking
from grader.classroom.roster import normalize_name, read_roster
from grader.classroom.store.store import RULES, ResultsStore
from grader.core.json_record import from_json, to_json
from grader.core.report import Undecided
from grader.core.times import TimeError, read_length, read_time
from grader.course.course import Course
from grader.submission.choose import Policy

_OPTIONS = {"extended": "extensions", "section": "section", "name": "name"}  # keys of course.toml without an option


class RulesError(ClassError):
    """A rule that cannot be used, and why."""


@dataclass(frozen=True)
class Extension:
    """A later due date for one student, in one module or, if `module` is empty, in all."""

    student: str
    module: str
    until: str

    def __str__(self) -> str:
        return f"{self.student}{f' ({self.module})' if self.module else ''} until {self.until}"


@dataclass(frozen=True)
class Rules:
    """What a grading uses: options of `attn grade` and `course.toml`. Files are full paths.

    `extensions` is a file, and `extended` is the list in `course.toml`: at most one of them is set.
    """

    roster: str | None = None
    policy: Policy | None = None
    due: tuple[str, ...] = ()
    extensions: str | None = None
    times: str | None = None
    late_penalty: str | None = None
    grace: str | None = None
    undecided: Undecided | None = None
    extended: tuple[Extension, ...] = ()
    section: str | None = None  # only people of this section are missing if they submitted nothing
    name: str | None = None  # of the course, for tables and feedback
    map: str | None = None  # whose work a folder is
    file_times: bool = False  # whether the times of files are those of the submissions

    def as_options(self) -> dict[str, str]:
        """Return the rules that are set, by the option that sets them. Some only have a key of `course.toml`."""
        options = {}
        for field in dataclasses.fields(self):
            if value := getattr(self, field.name):
                option = _OPTIONS.get(field.name, f"--{field.name.replace('_', '-')}")
                text = " ".join(map(str, value)) if isinstance(value, tuple) else value
                options[option] = "" if value is True else text
        return options

    def or_else(self, others: Rules) -> Rules:
        """Return these rules, with those that are not set taken from others."""
        names = [field.name for field in dataclasses.fields(self)]
        rules = Rules(**{name: getattr(self, name) or getattr(others, name) for name in names})
        if self.extensions or self.extended:  # the file and the list replace each other
            rules = dataclasses.replace(rules, extensions=self.extensions, extended=self.extended)
        return rules

    def marking(self, course: Course) -> Marking:
        """Read the files and texts that the rules name."""
        if not self.due and (self.extensions or self.extended or self.late_penalty or self.grace):
            raise RulesError("--extensions, --late-penalty and --grace need a due date: add --due")
        try:
            deadlines = Deadlines(
                due=read_due(course, self.due),
                extensions=read_times(course, Path(self.extensions), "until") if self.extensions else self._extended(),
                handed_in=read_times(course, Path(self.times), "submitted") if self.times else {},
                penalty=read_penalty(self.late_penalty) if self.late_penalty else None,
                grace=read_length(self.grace) if self.grace else timedelta(),
            )
            roster = read_roster(Path(self.roster)) if self.roster else None
        except TimeError as error:
            raise RulesError(str(error)) from None
        sections = sorted({person.section for person in roster.people}) if roster else []
        if self.section and roster and self.section not in sections:
            raise RulesError(
                f"{self.roster} has no one in section {self.section!r}. Its sections are {', '.join(sections)}"
            )
        return Marking(roster, deadlines, self.section or "")

    def _extended(self) -> dict[tuple[str, str], datetime]:
        return {(normalize_name(one.student), one.module): read_time(one.until) for one in self.extended}


def rules_text(rules: Rules) -> str:
    """Return the rules of a grading as they are saved with its results."""
    return json.dumps(to_json(rules), indent=1) + "\n"


def read_rules(store: ResultsStore) -> Rules:
    """Return the rules saved with the results of a class; empty rules if there are none.

    Rules that cannot be read are an error: without them, due dates and penalties would silently be gone.
    """
    try:
        return from_json(Rules, json.loads(store.document(RULES)))
    except (FileNotFoundError, NotADirectoryError):
        return Rules()
    except (OSError, ValueError, RecursionError) as error:
        fix = "Correct it or restore it from a backup. To begin without it, move it away and give all options again"
        raise RulesError(
            f"{store.where(RULES)}, the rules of the last grading, cannot be read: {error}. {fix}"
        ) from None

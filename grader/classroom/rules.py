"""The rules of a class: roster, due dates, penalties, and which attempt counts. --resume uses the saved ones."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from grader.classroom.lateness import Deadlines, LateError, read_due, read_penalty, read_times
from grader.classroom.marks import Marking
from grader.classroom.roster import RosterError, read_roster
from grader.core.atomic_file import write_atomically
from grader.core.json_record import from_json, to_json
from grader.core.review import Undecided
from grader.core.times import TimeError, read_length
from grader.course.course import Course
from grader.submission.attempts import Policy

FILE = "rules.json"


class RulesError(Exception):
    """A rule that cannot be used, and why."""


@dataclass(frozen=True)
class Rules:
    """The options of `attn grade`. Files are full paths, so that they are found from any folder."""

    roster: str | None = None
    policy: Policy | None = None
    due: tuple[str, ...] = ()
    extensions: str | None = None
    times: str | None = None
    late_penalty: str | None = None
    grace: str | None = None
    undecided: Undecided | None = None
    map: str | None = None  # whose work a folder is
    file_times: bool = False  # whether the times of files are those of the submissions

    def as_options(self) -> dict[str, str]:
        """Return the rules that are set, as options of the command line."""
        return {
            f"--{name.replace('_', '-')}": " ".join(value) if name == "due" else "" if value is True else value
            for name, value in to_json(self).items()
            if value
        }

    def or_else(self, others: Rules) -> Rules:
        """Return these rules, with those that are not set taken from others."""
        names = [field.name for field in dataclasses.fields(self)]
        return Rules(**{name: getattr(self, name) or getattr(others, name) for name in names})

    def marking(self, course: Course) -> Marking:
        """Read the files and texts that the rules name."""
        if not self.due and (self.extensions or self.late_penalty or self.grace):
            raise RulesError("--extensions, --late-penalty and --grace need a due date: add --due")
        try:
            deadlines = Deadlines(
                due=read_due(course, self.due),
                extensions=read_times(course, Path(self.extensions), "until") if self.extensions else {},
                handed_in=read_times(course, Path(self.times), "submitted") if self.times else {},
                penalty=read_penalty(self.late_penalty) if self.late_penalty else None,
                grace=read_length(self.grace) if self.grace else timedelta(),
            )
            return Marking(read_roster(Path(self.roster)) if self.roster else None, deadlines)
        except (LateError, RosterError, TimeError) as error:
            raise RulesError(str(error)) from None


def write_rules(rules: Rules, folder: Path) -> None:
    """Save the rules of a grading in its results folder."""
    write_atomically(folder / FILE, json.dumps(to_json(rules), indent=1) + "\n")


def read_rules(folder: Path) -> Rules:
    """Return the rules saved in a results folder; empty rules if they cannot be read."""
    try:
        return from_json(Rules, json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return Rules()

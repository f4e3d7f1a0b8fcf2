"""The rules of a class as they were said: roster, due dates, penalties, which attempt counts. Resuming keeps them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from grader.classroom.lateness import Deadlines, LateError, read_due, read_moments, read_penalty
from grader.classroom.marks import Marking
from grader.classroom.roster import RosterError, read_roster
from grader.core.atomic_file import write_atomically
from grader.core.times import TimeError, read_length
from grader.course.course import Course
from grader.submission.finder import Policy

FILE = "rules.json"


class RulesError(Exception):
    """A rule that cannot be followed, and why."""


@dataclass(frozen=True)
class Rules:
    """What the options of `attn grade` say; files by their full path, so that they are found from anywhere."""

    roster: str | None = None
    policy: Policy | None = None
    due: tuple[str, ...] = ()
    extensions: str | None = None
    times: str | None = None
    late_penalty: str | None = None
    grace: str | None = None

    def said(self) -> dict[str, str]:
        """Return the rules there are, as one would say them."""
        pairs = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            f"--{name.replace('_', '-')}": " ".join(value) if name == "due" else value
            for name, value in pairs.items()
            if value
        }

    def or_else(self, others: Rules) -> Rules:
        """Return these rules, and where nothing is said the others."""
        names = [field.name for field in dataclasses.fields(self)]
        return Rules(**{name: getattr(self, name) or getattr(others, name) for name in names})

    def marking(self, course: Course) -> Marking:
        """Read the files and texts that the rules are in."""
        if not self.due and (self.extensions or self.late_penalty or self.grace):
            raise RulesError("--extensions, --late-penalty and --grace need to know when the work is due: say --due")
        try:
            deadlines = Deadlines(
                due=read_due(course, self.due),
                extensions=read_moments(course, Path(self.extensions), "until") if self.extensions else {},
                handed_in=read_moments(course, Path(self.times), "submitted") if self.times else {},
                penalty=read_penalty(self.late_penalty) if self.late_penalty else None,
                grace=read_length(self.grace) if self.grace else timedelta(),
            )
            return Marking(read_roster(Path(self.roster)) if self.roster else None, deadlines)
        except (LateError, RosterError, TimeError) as error:
            raise RulesError(str(error)) from None


def write_rules(rules: Rules, folder: Path) -> None:
    """Note in a folder of results by which rules it was made."""
    write_atomically(folder / FILE, json.dumps(dataclasses.asdict(rules), indent=1) + "\n")


def read_rules(folder: Path) -> Rules:
    """Return by which rules a folder of results was made; none if that is not known."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return Rules(**{**data, "due": tuple(data["due"])})
    except (OSError, ValueError, KeyError, TypeError):
        return Rules()

"""The rules of a grading: roster, due dates, penalties, and which attempt counts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from grader.classroom import ClassError
from grader.classroom.overrides import is_module
from grader.classroom.store.store import RULES, ResultsStore
from grader.core.json_record import from_json
from grader.core.report import Undecided
from grader.submission.choose import Policy

T = TypeVar("T")

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

    def only(self, module: str) -> Rules:
        """Return the rules for one module: due dates and extensions of others are left out."""
        dates = {name.strip(): date.strip() for name, _, date in (text.rpartition("=") for text in self.due)}
        own = [date for name, date in dates.items() if is_module(name, module)]
        due = tuple((own or [date for name, date in dates.items() if not name])[:1])
        extended = tuple(one for one in self.extended if one.module in ("", module))
        return dataclasses.replace(self, due=due, extended=extended)


def read_rules(store: ResultsStore) -> Rules:
    """Return the rules of the last grading of a class, such as its name and roster; empty rules if there are none.

    What its marks were made with is in `read_saved_rules`: each module has rules of its own.
    """
    return rules_from(store, lambda data: from_json(Rules, data)) or Rules()


def rules_from(store: ResultsStore, read: Callable[[Any], T]) -> T | None:
    """Read the file of rules of a class; None if there is none.

    Rules that cannot be read are an error: without them, due dates and penalties would silently be gone.
    """
    try:
        return read(json.loads(store.document(RULES)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        fix = "Correct it or restore it from a backup. To begin without it, move it away and give all options again"
        raise RulesError(
            f"{store.where(RULES)}, the rules of the last grading, cannot be read: {error}. {fix}"
        ) from None

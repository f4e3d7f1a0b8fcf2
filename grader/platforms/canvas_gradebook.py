"""Canvas's own export of its gradebook: which assignments it has, and how many points each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from grader.classroom.class_list import ExportError
from grader.core.csv_table import CsvError, column_names, read_csv
from grader.course.module import FOLDER

_ASSIGNMENT = re.compile(r"(?P<title>.*)\s\((?P<number>\d+)\)", re.DOTALL)
_READ_ONLY = re.compile(r"read\s+only", re.IGNORECASE)


@dataclass(frozen=True)
class Gradebook:
    """The rows of a gradebook by column in lower case, and the assignments with the texts of their points possible."""

    path: Path
    rows: tuple[Mapping[str, str], ...]
    points: Mapping[str, str]
    by_hand: frozenset[str] = frozenset()  # assignments whose grades are hidden until the teacher posts them

    def assignment(self, module: str, wanted: str, *, create: bool) -> str:
        """Return the assignment of a module, as the gradebook calls it; with `create`, it may be a new one.

        Canvas finds an assignment by the number in its name. Any other name would be a new assignment.
        """
        numbers = {name: match["number"] for name in self.points if (match := _ASSIGNMENT.fullmatch(name))}
        number = match["number"] if (match := _ASSIGNMENT.fullmatch(wanted)) else None
        titles = {name: _ASSIGNMENT.sub(r"\g<title>", name).casefold() for name in self.points}
        for same in (
            [name for name in self.points if name == wanted],
            [name for name, one in numbers.items() if one == number],
            [name for name, title in titles.items() if wanted and title == wanted.casefold()],
        ):
            if len(same) == 1:
                return same[0]
        if create or not self.points:
            return wanted or module
        raise ExportError(self._unknown(module, wanted))

    def _unknown(self, module: str, wanted: str) -> str:
        """Say that an assignment is not in the gradebook, and which may be meant."""
        match = FOLDER.fullmatch(module)
        slug = match[2] if match else module
        by_title = {_ASSIGNMENT.sub(r"\g<title>", name).casefold(): name for name in self.points}
        looked_for = [wanted.casefold(), slug.replace("_", " ")] if wanted else [slug.replace("_", " ")]
        names = [by_title[near] for text in looked_for for near in get_close_matches(text, list(by_title), 1, 0.5)]
        there = f"It has {', '.join(list(self.points)[:6])}{', …' if len(self.points) > 6 else ''}"
        what = f"has no assignment {wanted!r}" if wanted else f"does not say which assignment is for {module}"
        fix = f'-a {slug}="{names[0]}"' if names else f'-a {slug}="NAME (NUMBER)"'
        again = f"Did you mean {fix}? For a new assignment" if names else f"Add {fix}, or for a new assignment"
        return f"{self.path} {what}. {there}. {again}, add --create"

    def possible(self, assignment: str) -> float | None:
        """Return the points possible of an assignment; None if it has none or is new."""
        text = self.points.get(assignment, "")
        if _READ_ONLY.search(text):
            raise ExportError(f"Canvas takes no grades for {assignment}: {self.path} says that it is read only")
        if not text:
            return None
        try:
            return float(_plain_number(text))
        except ValueError:
            problem = f"{self.path} has {text!r} as the points possible of {assignment}, which is not a number"
            raise ExportError(f"{problem}. Export the gradebook again") from None

    def most_of(self, module: str, assignment: str, most: float, *, scale: bool) -> float:
        """Return the points possible of a module's assignment; ExportError if others are not to be scaled to."""
        possible = self.possible(assignment)
        if possible is None or possible == most:
            return most
        if not scale or possible <= 0:
            fix = "" if possible <= 0 else ", or add --scale"
            raise ExportError(
                f"{assignment} has {possible:g} points in {self.path}, but {module} has {most:g}. "
                f"In Canvas, set the points of the assignment to {most:g} and export the gradebook again{fix}"
            )
        return possible


def read_gradebook(path: Path | None) -> Gradebook | None:
    """Read a gradebook; None if the file is another kind of roster."""
    if path is None:
        return None
    try:
        data = path.read_bytes()
        names = column_names(data)
        rows = tuple(row for _, row in read_csv(data))
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from None
    except CsvError as error:
        raise ExportError(f"{path} {error}") from None
    if not {"student", "sis login id", "sis user id"} & {name.casefold() for name in names}:
        return None
    assignments = [name for name in names if _ASSIGNMENT.fullmatch(name)]
    possible = next((row for row in rows if any("points possible" in text.casefold() for text in row.values())), {})
    posting = [row for row in rows if not row.get("id")]
    by_hand = {name for name in assignments for row in posting if "manual posting" in row[name.casefold()].casefold()}
    return Gradebook(path, rows, {name: possible.get(name.casefold(), "") for name in assignments}, frozenset(by_hand))


def _plain_number(text: str) -> str:
    """Return a number as Canvas reads it: the last comma or point is the decimal one."""
    whole, _, part = text.replace(",", ".").rpartition(".")
    return f"{whole.replace('.', '')}.{part}" if whole else part

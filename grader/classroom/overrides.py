"""Points and comments that the instructor gave by hand: `overrides.csv` in the results folder.

People may write the file too, so that it is a table. Grading reads it and never writes it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.classroom import ClassError
from grader.classroom.marks import Mark
from grader.classroom.roster import normalize_name
from grader.core.atomic_file import write_atomically
from grader.core.csv_table import CsvError, csv_text, read_csv

FILE = "overrides.csv"
COLUMNS = ("student", "module", "points", "comment")  # what a person writes
HEADER = (*COLUMNS, "extra", "automatic", "when")  # what `attn mark` adds
FIX = "Correct the file or restore it from a backup. To begin without overrides, move it away"


class OverridesError(ClassError):
    """Points or comments that cannot be used, and what to do about it."""


@dataclass(frozen=True)
class Override:
    """The final points of a student for a module, a comment, or both.

    The student is named as in the reports or by id. `automatic` is the mark that the points replaced.
    """

    student: str
    module: str
    points: float | None
    comment: str
    extra: bool = False  # whether the points may be more than the module has
    automatic: float | None = None
    when: str = ""

    def is_for(self, mark: Mark) -> bool:
        """Whether it is about the student and the module of a mark."""
        names = {normalize_name(name) for name in (mark.id, mark.submission) if name}
        return normalize_name(self.student) in names and is_module(self.module, mark.module)


@dataclass(frozen=True)
class Overrides:
    """All overrides of a results folder."""

    records: tuple[Override, ...] = ()

    def find(self, mark: Mark) -> Override | None:
        """Return the override for a mark."""
        return next((one for one in self.records if one.is_for(mark)), None)

    def apply(self, marks: Iterable[Mark]) -> list[Mark]:
        """Return marks with these overrides. Those that the marks had before are taken out."""
        found = list(marks)
        self.check(found)
        return [*map(self.applied_to, found)]

    def applied_to(self, mark: Mark) -> Mark:
        """Return one mark with its override. The one that it had before is taken out."""
        return _overridden(mark, self.find(mark))

    def check(self, marks: Iterable[Mark]) -> None:
        """Raise OverridesError if one of them is for two students of a class."""
        for one, found in self._found(marks).items():
            who = {(mark.module, mark.id) for mark in found}
            if len(who) > len({module for module, _ in who}):
                problem = (
                    f"{FILE} names {one.student}, who is two students: {', '.join(sorted(person for _, person in who))}"
                )
                raise OverridesError(f"{problem}. Use a name that only one of them has in the reports")

    def _found(self, marks: Iterable[Mark]) -> dict[Override, list[Mark]]:
        """Return the marks that each override is for."""
        found: dict[Override, list[Mark]] = {one: [] for one in self.records}
        for mark in marks if found else ():
            for one in self.records:
                if one.is_for(mark):
                    found[one].append(mark)
        return found

    def put(self, mark: Mark, override: Override) -> Overrides:
        """Return the overrides with another one for a mark; it replaces the earlier one."""
        return Overrides((*self.without(mark).records, override))

    def without(self, mark: Mark) -> Overrides:
        """Return the overrides without those for a mark."""
        return Overrides(tuple(one for one in self.records if not one.is_for(mark)))

    def notes(self, marks: Iterable[Mark]) -> Iterator[str]:
        """Yield what the instructor should know: overrides without a student, or whose automatic mark changed."""
        for one, mine in self._found(marks).items():
            if not mine:
                yield f"{FILE} names {one.student} in {one.module}, but the class list has no such line"
            if one.points is not None and one.automatic is not None:
                for mark in mine:
                    if mark.automatic is not None and mark.automatic != one.automatic:
                        was = f"when the automatic mark was {one.automatic:g}; now it is {mark.automatic:g}"
                        yield f"{mark.id} has {one.points:g} points by hand for {mark.module}, given {was}"


def read_overrides(folder: Path) -> Overrides:
    """Return the overrides in a results folder. A file that cannot be read is an error: it holds marks."""
    path = folder / FILE
    try:
        rows = read_csv(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return Overrides()
    except OSError as error:
        raise OverridesError(f"{path} cannot be read: {error.strerror}. {FIX}") from None
    except CsvError as error:
        raise OverridesError(f"{path} {error}. {FIX}") from None
    records: dict[tuple[str, str], Override] = {}
    for line, row in rows:
        try:
            one = _record(row)
        except ValueError as error:
            raise OverridesError(f"{path}, line {line}: {error}. {FIX}") from None
        if records.setdefault((normalize_name(one.student), one.module), one) is not one:
            twin = f"{one.student} has another line for {one.module} above"
            raise OverridesError(f"{path}, line {line}: {twin}. Keep one of them")
    return Overrides(tuple(records.values()))


def write_overrides(folder: Path, overrides: Overrides) -> None:
    """Write the overrides in one step. Without any, there is no file."""
    if overrides.records:
        rows = [[getattr(one, name) for name in HEADER] for one in overrides.records]
        write_atomically(folder / FILE, csv_text(HEADER, rows))
    else:
        (folder / FILE).unlink(missing_ok=True)


def _record(row: Mapping[str, str]) -> Override:
    missing = [name for name in COLUMNS if name not in row]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; the first line must be {','.join(COLUMNS)}")
    if not row["student"] or not row["module"]:
        raise ValueError("it needs a student and a module")
    points = _number(row["points"], "points")
    if points is None and not row["comment"]:
        raise ValueError("it needs points or a comment")
    if points is not None and points < 0:
        raise ValueError(f"{points:g} points are less than none")
    automatic = _number(row.get("automatic", ""), "automatic")
    extra = row.get("extra", "").casefold() == "yes"
    return Override(row["student"], row["module"], points, row["comment"], extra, automatic, row.get("when", ""))


def _number(text: str, column: str) -> float | None:
    try:
        value = float(text.replace(",", ".")) if text else None
    except ValueError:
        value = math.nan
    if value is not None and not math.isfinite(value):
        raise ValueError(f"{column} must be a number, not {text!r}")
    return value


def _overridden(mark: Mark, override: Override | None) -> Mark:
    if override is None:
        if mark.override is None and not mark.comment and mark.final == mark.automatic:
            return mark
        return dataclasses.replace(mark, final=mark.automatic, override=None, comment="")
    points = override.points
    if points is not None and points > mark.max_score and not override.extra:
        problem = f"{points:g} points are more than the {mark.max_score:g} that {mark.module} has"
        fix = "If that is meant, write yes in a column `extra`"
        raise OverridesError(f"{FILE} gives {override.student} too much: {problem}. {fix}")
    final = mark.automatic if points is None else points
    return dataclasses.replace(mark, final=final, override=points, comment=override.comment)


def is_module(text: str, name: str) -> bool:
    """Whether a text names a module: by its name, slug or number."""
    return text in (name, name[3:], name[:2], name[:2].lstrip("0"))

"""Canvas: a file for the gradebook's import, in the columns that Canvas reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.classroom.marks import Mark
from grader.classroom.roster import Person, Roster, RosterError, normalize_name, read_roster
from grader.core.csv_table import CsvError, Value, csv_text, read_csv
from grader.core.safe_text import one_line
from grader.platforms.class_list import ClassList, ExportError

IdColumn = Literal["ID", "SIS User ID", "SIS Login ID"]
# Canvas wants these first, in this order; the assignments follow.
COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"
# A column with one of these in its name is reckoned by Canvas itself, and never read.
_RESERVED = re.compile(r"(current|final|override) (score|points|grade|status)", re.IGNORECASE)


@dataclass(frozen=True)
class CanvasFile:
    """The text of the file, how many grades are in it, and what could not be handed on."""

    text: str
    grades: int
    problems: tuple[str, ...]


def canvas_file(
    found: ClassList,
    names: Mapping[str, str],
    roster: Path | None = None,
    id_column: IdColumn = "SIS Login ID",
) -> CanvasFile:
    """Return the file for a class; `names` has what an assignment is called in Canvas, by module.

    With a roster, everybody on it has a line, and whoever is not on it has none. A cell without a score is empty.
    """
    titles = [names.get(module, module) for module in found.modules]
    for title in titles:
        if _RESERVED.search(title) or title in COLUMNS:
            raise ExportError(f"Canvas does not read a column called {title!r}: give the assignment another name")
    if len(set(titles)) < len(titles):
        raise ExportError("two modules cannot be one assignment: give each a name of its own")
    people = found.by_person()
    problems = list(found.problems())
    if roster is None:
        lines = [(_own_cells(marks, who, id_column), marks) for who, marks in people.items()]
    else:
        lines, unknown = _on_roster(roster, found, id_column)
        problems += [one_line(f"{who} is not on the roster: not in the file") for who in unknown]
    rows: list[list[Value]] = [[POINTS_POSSIBLE, "", "", "", "", *found.modules.values()]]
    grades = 0
    for cells, marks in lines:
        finals = [marks[module].final if module in marks else None for module in found.modules]
        grades += sum(final is not None for final in finals)
        rows.append([*cells, *finals])
    return CanvasFile(csv_text([*COLUMNS, *titles], rows), grades, tuple(problems))


def _own_cells(marks: Mapping[str, Mark], who: str, id_column: IdColumn) -> list[Value]:
    """Return who somebody is by the class list alone."""
    one = next(iter(marks.values()), None)
    return _cells(Person(who, one.name if one else "", one.section if one else ""), id_column)


def _cells(person: Person, id_column: IdColumn) -> list[Value]:
    ids = [person.id if column == id_column else "" for column in COLUMNS[1:4]]
    return [person.name or person.id, *ids, person.section]


def _on_roster(
    path: Path, found: ClassList, id_column: IdColumn
) -> tuple[list[tuple[list[Value], dict[str, Mark]]], list[str]]:
    """Return a line for everybody on a roster, in its order, and who with a mark is not on it."""
    try:
        roster = read_roster(path)
        rows = [row for _, row in read_csv(path.read_bytes())]
    except (RosterError, CsvError) as error:
        raise ExportError(str(error)) from None
    people = found.by_person()
    marks: dict[str, dict[str, Mark]] = {}
    unknown: list[str] = []
    for who, theirs in people.items():
        person = _found(roster, who, theirs)
        if person is not None:
            marks.setdefault(person.id, {}).update(theirs)
        elif any(mark.submission for mark in theirs.values()):
            unknown.append(who)
    # Canvas's own export has all the ids that it knows somebody by; other rosters have one.
    own = {normalize_name(row["id"]): row for row in rows if row.get("student") and row.get("id")}
    lines: list[tuple[list[Value], dict[str, Mark]]] = []
    for person in roster.people:
        row = own.get(normalize_name(person.id))
        cells: list[Value] = [row.get(name.casefold(), "") for name in COLUMNS] if row else _cells(person, id_column)
        lines.append((cells, marks.get(person.id, {})))
    return lines, unknown


def _found(roster: Roster, who: str, theirs: Mapping[str, Mark]) -> Person | None:
    names = [who, *(name for mark in theirs.values() for name in (mark.submission, mark.name) if name)]
    return next((person for name in names if (person := roster.find(name))), None)

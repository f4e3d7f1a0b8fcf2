"""A grades file for Canvas, with the columns that the import of its gradebook reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.classroom.class_list import ClassList, ExportError
from grader.classroom.marks import Mark
from grader.classroom.roster import Person, Roster, normalize_name, read_roster
from grader.core.csv_table import CsvError, Value, csv_text, read_csv
from grader.core.safe_text import one_line

IdColumn = Literal["ID", "SIS User ID", "SIS Login ID"]
# Canvas wants these columns first, in this order. The assignments follow.
COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"
# Canvas computes columns with such names itself and never reads them.
_RESERVED = re.compile(r"(current|final|override) (score|points|grade|status)", re.IGNORECASE)


@dataclass(frozen=True)
class CanvasFile:
    """The text of the file, the number of grades in it, the grades that could not be exported, and the comments.

    The comments are a table of their own: Canvas imports none.
    """

    text: str
    grades: int
    problems: tuple[str, ...]
    comments: str
    commented: int


def canvas_file(
    found: ClassList,
    names: Mapping[str, str],
    roster: Path | None = None,
    id_column: IdColumn = "SIS Login ID",
    notes: str = "",
) -> CanvasFile:
    """Return the file for a class; `names` maps modules to the names of their assignments in Canvas.

    With a roster, each student on it has a line and other students have none. A cell without a score is empty. If the
    roster is Canvas's gradebook, it stays as it is there: Canvas would remove the grade of an empty one. `notes` is
    the name of a column for teachers in Canvas that gets the comments.
    """
    titles = {module: names.get(module, module) for module in found.modules}
    for title in titles.values():
        if _RESERVED.search(title) or title in (*COLUMNS, notes):
            raise ExportError(f"Canvas does not read a column called {title!r}. Give the assignment another name")
    if len(set(titles.values())) < len(titles):
        raise ExportError("two modules have the same assignment name. Give each its own name")
    people = found.by_person()
    problems = list(found.problems())
    if roster is None:
        lines = [_Line(_cells_from_marks(marks, student, id_column), marks) for student, marks in people.items()]
    else:
        lines, unknown = _on_roster(roster, found, id_column)
        problems += [one_line(f"{student} is not on the roster: left out of the file") for student in unknown]
    own = [notes] if notes else []  # Canvas wants columns for teachers between the section and the assignments
    rows: list[list[Value]] = [[POINTS_POSSIBLE, "", "", "", "", *("" for _ in own), *found.modules.values()]]
    comments: list[list[Value]] = []
    grades = 0
    for line in lines:
        shown: list[Value] = []
        notes_of_line: list[str] = []
        for module, title in titles.items():
            mark = line.marks.get(module)
            final = mark.final if mark else None
            grades += final is not None
            shown.append(line.before.get(title.casefold(), "") if final is None else final)
            if mark and (mark.comment or mark.override is not None):
                comments.append([*line.cells, title, mark.final, mark.automatic, mark.comment])
                notes_of_line += [f"{title}: {mark.comment}"] if mark.comment else []
        rows.append([*line.cells, *("; ".join(notes_of_line) for _ in own), *shown])
    table = csv_text([*COLUMNS, "Assignment", "Grade", "Automatic", "Comment"], comments)
    text = csv_text([*COLUMNS, *own, *titles.values()], rows)
    return CanvasFile(text, grades, tuple(problems), table, len(comments))


@dataclass(frozen=True)
class _Line:
    """A line of the file: its first cells, the marks by module, and the line of the same student in the gradebook."""

    cells: list[Value]
    marks: Mapping[str, Mark]
    before: Mapping[str, str] = field(default_factory=dict)


def _cells_from_marks(marks: Mapping[str, Mark], student: str, id_column: IdColumn) -> list[Value]:
    """Return the first cells of a student's line, from the class list alone."""
    mark = next(iter(marks.values()), None)
    return _cells(Person(student, mark.name if mark else "", mark.section if mark else ""), id_column)


def _cells(person: Person, id_column: IdColumn) -> list[Value]:
    ids = [person.id if column == id_column else "" for column in COLUMNS[1:4]]
    return [person.name or person.id, *ids, person.section]


def _on_roster(path: Path, found: ClassList, id_column: IdColumn) -> tuple[list[_Line], list[str]]:
    """Return a line for each student on the roster, in its order, and the students with marks who are not on it."""
    try:
        roster = read_roster(path)
        rows = [row for _, row in read_csv(path.read_bytes())]
    except CsvError as error:
        raise ExportError(str(error)) from None
    people = found.by_person()
    marks: dict[str, dict[str, Mark]] = {}
    unknown: list[str] = []
    for student, by_module in people.items():
        person = _find(roster, student, by_module)
        if person is not None:
            _add(marks.setdefault(person.id, {}), by_module, f"{person.id} in {path}")
        elif any(mark.submission or mark.final is not None for mark in by_module.values()):
            unknown.append(student)
    # A roster exported from Canvas has all the ids of a student. Other rosters have one.
    canvas_rows = {normalize_name(row["id"]): row for row in rows if row.get("id") and _is_gradebook(row)}
    lines: list[_Line] = []
    for person in roster.people:
        row = canvas_rows.get(normalize_name(person.id), {})
        cells: list[Value] = [row.get(name.casefold(), "") for name in COLUMNS] if row else _cells(person, id_column)
        cells[0] = cells[0] or person.name  # a gradebook may have two columns for the name
        lines.append(_Line(cells, marks.get(person.id, {}), row))
    return lines, unknown


def _is_gradebook(row: Mapping[str, str]) -> bool:
    return bool(row.get("student")) or "sis login id" in row or "sis user id" in row


def _add(marks: dict[str, Mark], more: Mapping[str, Mark], person: str) -> None:
    """Add marks of one person. A mark takes the place of none; two marks for one module are an error."""
    for module, mark in more.items():
        before = marks.get(module)
        if before is not None and before.final is not None and mark.final is not None:
            both = f"{before.submission or before.id} and {mark.submission or mark.id}"
            raise ExportError(f"{both} both have a grade for {module}, and both are {person}. Grade with that roster")
        if before is None or before.final is None:
            marks[module] = mark


def _find(roster: Roster, student: str, marks: Mapping[str, Mark]) -> Person | None:
    names = [student, *(name for mark in marks.values() for name in (mark.submission, mark.name) if name)]
    return next((person for name in names if (person := roster.find(name))), None)

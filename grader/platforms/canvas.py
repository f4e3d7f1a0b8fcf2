"""A grades file for Canvas, with the columns that the import of its gradebook reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.classroom.class_list import ClassList, ExportError
from grader.classroom.marks import Mark
from grader.classroom.roster import Person, Roster, normalize_name, read_roster
from grader.core.csv_table import CsvError, Value, csv_text
from grader.core.safe_text import one_line
from grader.platforms.canvas_gradebook import Gradebook, read_gradebook

IdColumn = Literal["ID", "SIS User ID", "SIS Login ID"]
# Canvas wants these columns first, in this order. The assignments follow.
COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"
# Canvas computes columns with such names itself and never reads them.
_RESERVED = re.compile(r"(current|final|override) (score|points|grade|status)", re.IGNORECASE)


@dataclass(frozen=True)
class CanvasFile:
    """The text of the file, the number of grades in it, the grades that could not be exported, and the comments.

    The comments are a table of their own: Canvas imports none. `notes` are what the instructor should know.
    """

    text: str
    grades: int
    problems: tuple[str, ...]
    comments: str
    commented: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """A module's assignment in Canvas: its name, its points possible there, and those of the module."""

    name: str
    most: float
    own_most: float

    def scaled(self, points: float | None) -> float | None:
        """Return points of the module as points in Canvas."""
        if points is None or self.most == self.own_most:
            return points
        return round(points * self.most / self.own_most, 2)


def canvas_file(
    found: ClassList,
    names: Mapping[str, str],
    roster: Path | None = None,
    id_column: IdColumn = "SIS Login ID",
    notes: str = "",
    *,
    scale: bool = False,
    create: bool = False,
) -> CanvasFile:
    """Return the file for a class; `names` maps modules to the names of their assignments in Canvas.

    With a roster, each student on it has a line and other students have none. A cell without a score is empty. If the
    roster is Canvas's gradebook, it stays as it is there: Canvas would remove the grade of an empty one. Assignments
    that the gradebook does not have are refused without `create`, and other points possible without `scale`. `notes`
    is the name of a column for teachers in Canvas that gets the comments.
    """
    gradebook = read_gradebook(roster)
    assignments = _assignments(found, names, gradebook, notes, scale=scale, create=create)
    people = found.by_person()
    problems = list(found.problems())
    if roster is None:
        lines = [_Line(_cells_from_marks(marks, student, id_column), marks) for student, marks in people.items()]
    else:
        lines, unknown = _on_roster(roster, gradebook, found, id_column)
        problems += [one_line(f"{student} is not on the roster: left out of the file") for student in unknown]
    own = [notes] if notes else []  # Canvas wants columns for teachers between the section and the assignments
    most = [assignment.most for assignment in assignments.values()]
    rows: list[list[Value]] = [[POINTS_POSSIBLE, "", "", "", "", *("" for _ in own), *most]]
    comments: list[list[Value]] = []
    grades = 0
    for line in lines:
        shown: list[Value] = []
        notes_of_line: list[str] = []
        for module, assignment in assignments.items():
            mark = line.marks.get(module)
            final = assignment.scaled(mark.final) if mark else None
            grades += final is not None
            shown.append(_kept(line.before.get(assignment.name.casefold(), "")) if final is None else final)
            if mark and (mark.comment or mark.override is not None):
                comments.append([*line.cells, assignment.name, final, assignment.scaled(mark.automatic), mark.comment])
                notes_of_line += [f"{assignment.name}: {mark.comment}"] if mark.comment else []
        rows.append([*line.cells, *("; ".join(notes_of_line) for _ in own), *shown])
    titles = [assignment.name for assignment in assignments.values()]
    table = csv_text([*COLUMNS, "Assignment", "Grade", "Automatic", "Comment"], comments)
    text = csv_text([*COLUMNS, *own, *titles], rows)
    return CanvasFile(text, grades, tuple(problems), table, len(comments), tuple(_notes(gradebook, assignments)))


def _assignments(
    found: ClassList,
    names: Mapping[str, str],
    gradebook: Gradebook | None,
    notes: str,
    *,
    scale: bool,
    create: bool,
) -> dict[str, Assignment]:
    """Return the assignment of each module, compared with the gradebook if there is one."""
    assignments: dict[str, Assignment] = {}
    for module, own_most in found.modules.items():
        title, most = names.get(module, ""), own_most
        if gradebook is not None:
            title = gradebook.assignment(module, title, create=create)
            most = gradebook.most_of(module, title, own_most, scale=scale)
        title = title or module
        if _RESERVED.search(title) or title in (*COLUMNS, notes):
            raise ExportError(f"Canvas does not read a column called {title!r}. Give the assignment another name")
        assignments[module] = Assignment(title, most, own_most)
    if len({assignment.name for assignment in assignments.values()}) < len(assignments):
        raise ExportError("two modules have the same assignment name. Give each its own name")
    return assignments


def _notes(gradebook: Gradebook | None, assignments: Mapping[str, Assignment]) -> Iterator[str]:
    """Yield what the instructor should know before the import."""
    if gradebook is None:
        yield "without Canvas's gradebook as --roster, the names and points of its assignments are not compared"
        return
    for assignment in assignments.values():
        if assignment.name not in gradebook.points:
            yield f"{assignment.name} is not in {gradebook.path}: Canvas asks whether to make a new assignment"
        elif gradebook.possible(assignment.name) is None:
            yield f"{assignment.name} has no points possible in {gradebook.path}: its points were not compared"
        if assignment.name in gradebook.by_hand:
            yield f"{assignment.name} is posted by hand: students see the grades after you post them in Canvas"


def _kept(text: str) -> Value:
    """Return a cell of the gradebook: a number stays one, even if a spreadsheet could take it for a formula."""
    return float(text) if re.fullmatch(r"-?\d+(?:\.\d+)?", text) else text


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


def _on_roster(
    path: Path, gradebook: Gradebook | None, found: ClassList, id_column: IdColumn
) -> tuple[list[_Line], list[str]]:
    """Return a line for each student on the roster, in its order, and the students with marks who are not on it."""
    try:
        roster = read_roster(path)
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
    rows = gradebook.rows if gradebook else ()
    canvas_rows = {normalize_name(row["id"]): row for row in rows if row.get("id")}
    lines: list[_Line] = []
    for person in roster.people:
        row = canvas_rows.get(normalize_name(person.id), {})
        cells: list[Value] = [row.get(name.casefold(), "") for name in COLUMNS] if row else _cells(person, id_column)
        cells[0] = cells[0] or person.name  # a gradebook may have two columns for the name
        lines.append(_Line(cells, marks.get(person.id, {}), row))
    return lines, unknown


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

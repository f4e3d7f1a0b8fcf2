"""Grades for a Moodle assignment: its grading worksheet filled in, and a zip of feedback files.

Moodle takes a worksheet back only with the identifiers that it gave out, so the worksheet is downloaded first.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from grader.classroom.class_list import ClassList, ExportError
from grader.classroom.marks import SKIPPED, Mark
from grader.classroom.roster import Person, Roster
from grader.core.report import Report
from grader.core.safe_text import one_line
from grader.platforms.feedback_text import feedback_text, mark_line, skipped_text, zip_of

# What we read, and the name that an English Moodle gives to its column.
COLUMNS = {
    "identifier": "Identifier",
    "name": "Full name",
    "id": "ID number",
    "email": "Email address",
    "username": "Username",
    "grade": "Grade",
    "maximum": "Maximum Grade",
    "changeable": "Grade can be changed",
    "feedback": "Feedback comments",
}
REQUIRED = ("identifier", "grade", "maximum")
MODIFIED = "Last modified (grade)"  # its import needs it, and we do not
_PARTICIPANT = re.compile(r"\D*(\d+)")  # `Participant 12345`, in the language of the site
# The number of a participant in the name of a submission that Moodle exported.
_EXPORTED = re.compile(r"_(\d+)_assignsubmission_|\(Moodle (\d+)\)$")
_OURS = re.compile(r"\d+(?:\.\d+)? of \d+(?:\.\d+)? points")
_NOT_IN_NAMES = re.compile(r"[_/\\\x00-\x1f]+")  # Moodle splits the name of a folder at underscores
MakePage = Callable[[Mark, Report], tuple[str, str]]


@dataclass(frozen=True)
class Worksheet:
    """A grading worksheet as Moodle wrote it. `at` has the place of each column that we read."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    at: Mapping[str, int]
    delimiter: str
    bom: bool

    def cell(self, row: tuple[str, ...], column: str) -> str:
        """Return one cell; empty if the worksheet has no such column."""
        return row[self.at[column]].strip() if column in self.at else ""

    def text(self, rows: list[list[str]]) -> str:
        """Return other rows in the same format."""
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=self.delimiter, lineterminator="\n")
        writer.writerows([self.header, *rows])
        return ("\ufeff" if self.bom else "") + file.getvalue()


@dataclass(frozen=True)
class MoodleFiles:
    """The filled worksheet, the zip of feedback files, how many grades and files there are, and what is left out."""

    worksheet: str
    feedback: bytes
    grades: int
    files: int
    problems: tuple[str, ...]


def read_worksheet(path: Path, names: Mapping[str, str]) -> Worksheet:
    """Read a grading worksheet. `names` has the names of columns in another language than English."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        first_line = text.partition("\n")[0]
        delimiter = max(",;\t", key=first_line.count)
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)]
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        fix = "Download the grading worksheet from Moodle again"
        raise ExportError(f"{path} is not a grading worksheet: {error}. {fix}") from None
    if "Identifier" in header and MODIFIED not in header:  # in English
        fix = "Moodle takes no worksheet without it. Download the worksheet again"
        raise ExportError(f"{path} has no column {MODIFIED!r}. {fix}")
    wanted = {**COLUMNS, **names}
    at = {column: header.index(name) for column, name in wanted.items() if name in header}
    if missing := next((column for column in (*REQUIRED, *names) if column not in at), None):
        near = get_close_matches(wanted[missing], header, 1)
        meant = f"--column {missing}={near[0]!r}" if near else f"--column {missing}=NAME"
        fix = f"Download the worksheet from the assignment, or name the column: {meant}"
        raise ExportError(f"{path} has no column {wanted[missing]!r}, only {', '.join(header)}. {fix}")
    full = tuple(tuple(row + [""] * (len(header) - len(row))) for row in rows if any(map(str.strip, row)))
    return Worksheet(path, tuple(header), full, at, delimiter, text.startswith("\ufeff") or data[:3] == b"\xef\xbb\xbf")


def moodle_files(
    found: ClassList, sheet: Worksheet, course: str = "", *, scale: bool = False, page: MakePage | None = None
) -> MoodleFiles:
    """Return the files for the one module of a class; every grade that they do not have is in `problems`.

    `page` makes the feedback page of a student, or says why there is none. It goes into the zip beside the text.
    """
    (module,) = found.modules
    marks = [by_module[module] for by_module in found.by_person().values() if module in by_module]
    placed, unknown = _placed(sheet, marks)
    reports = {mark.submission: report for mark, report in found.reports()}
    problems = list(found.problems())
    left_out = [mark for mark in unknown if mark.submission or mark.final is not None]
    problems += [f"{mark.id} is not in the worksheet: left out of the file" for mark in left_out]
    rows, grades = [], 0
    files: dict[str, str] = {}
    pages: dict[str, str] = {}
    for number, row in enumerate(sheet.rows):
        mark = placed.get(number)
        if mark is None:
            rows.append(list(row))
        else:
            filled = _Row(sheet, row, mark, scale=scale)
            rows.append(filled.cells())
            grades += filled.takes_grade
            problems += filled.problems()
            if mark.status == SKIPPED:
                files[f"{filled.folder}/{module}-feedback.txt"] = skipped_text(mark, course)
            elif report := reports.get(mark.submission):
                files[f"{filled.folder}/{module}-feedback.txt"] = feedback_text(mark, report, course)
                html_page, leak = page(mark, report) if page else ("", "")
                pages |= {f"{filled.folder}/{module}-feedback.html": html_page} if html_page else {}
                problems += [f"{mark.id}: the page {leak}. It was left out"] if leak else []
    zipped = zip_of(files | pages)
    return MoodleFiles(sheet.text(rows), zipped, grades, len(files), tuple(one_line(text) for text in problems))


class _Row:
    """One line of the worksheet, and the mark for it."""

    def __init__(self, sheet: Worksheet, row: tuple[str, ...], mark: Mark, *, scale: bool) -> None:
        self.sheet = sheet
        self.row = row
        self.mark = mark
        self.grade = mark.final
        self.most = _number(sheet, row, "maximum")
        if self.most != mark.max_score:
            if not scale:
                problem = (
                    f"the maximum grade in {sheet.path} is {self.most:g}, but {mark.module} has {mark.max_score:g}"
                )
                fix = f"In Moodle, set the maximum grade of the assignment to {mark.max_score:g}, or add --scale"
                raise ExportError(f"{problem} points. {fix}")
            self.grade = None if mark.final is None else round(mark.final * self.most / mark.max_score, 2)
        self.fits = self.grade is not None and self.grade <= self.most
        self.is_locked = sheet.cell(row, "changeable").casefold() == "no"
        self.old_feedback = sheet.cell(row, "feedback")

    @property
    def folder(self) -> str:
        """The folder of the student in a zip of feedback files."""
        name = _NOT_IN_NAMES.sub(" ", self.sheet.cell(self.row, "name")).strip(" .") or "Participant"
        return f"{name}_{_participant(self.sheet, self.row)}_assignsubmission_file_"

    @property
    def takes_grade(self) -> bool:
        """Whether Moodle takes a grade in this line."""
        return self.grade is not None and self.fits and not self.is_locked

    def cells(self) -> list[str]:
        """Return the line with grade and feedback; as it is if Moodle takes no grade."""
        cells = list(self.row)
        if self.takes_grade:
            cells[self.sheet.at["grade"]] = f"{self.grade:g}"
            if "feedback" in self.sheet.at and self._may_write_feedback():
                cells[self.sheet.at["feedback"]] = html.escape(mark_line(self.mark), quote=False)
        return cells

    def problems(self) -> Iterator[str]:
        """Yield what Moodle will not get."""
        who = self.mark.id
        old = self.sheet.cell(self.row, "grade")
        if self.grade is None and old:
            yield f"{who} has no mark, but the grade {old} in Moodle: it stays"
        if self.grade is not None and not self.fits:
            yield f"{who} has {self.grade:g} points, more than Moodle's maximum of {self.most:g}: enter them in Moodle"
        if self.is_locked:
            yield f"{who} has a locked grade in Moodle: left as it is"
        if self.mark.comment and "feedback" not in self.sheet.at:
            yield f"{who} has a comment, but the assignment has no feedback comments: switch them on in its settings"
        if not self._may_write_feedback():
            yield f"{who} has feedback in Moodle already: it stays, and ours is only in the feedback file"

    def _may_write_feedback(self) -> bool:
        return not self.old_feedback or bool(_OURS.match(self.old_feedback))


def _placed(sheet: Worksheet, marks: list[Mark]) -> tuple[dict[int, Mark], list[Mark]]:
    """Return the marks by the number of their line, and those that find no line."""
    numbers = [_participant(sheet, row) for row in sheet.rows]
    if twin := next((number for number in numbers if numbers.count(number) > 1), None):
        raise ExportError(f"{sheet.path} has two lines for participant {twin}. Download it again")
    cells = [{column: sheet.cell(row, column) for column in COLUMNS} for row in sheet.rows]
    people = [
        Person(
            id=f"{at}",
            name=one["name"],
            email=one["email"],
            accounts=tuple(filter(None, (one["id"], one["username"]))),
        )
        for at, one in enumerate(cells)
    ]
    # The ids of these people are places, which no student may be called: their other names are looked up.
    roster = Roster(tuple(people))
    placed: dict[int, Mark] = {}
    unknown: list[Mark] = []
    for mark in marks:
        exported = _EXPORTED.search(mark.submission)
        if exported:
            number = exported[1] or exported[2]
            at = numbers.index(number) if number in numbers else None
        else:
            at = _place(roster, mark)
        if at is None:
            unknown.append(mark)
        elif placed.setdefault(at, mark) is not mark:
            both = f"{placed[at].id} and {mark.id}"
            raise ExportError(f"{both} are one participant in {sheet.path}. Use a roster with ids that Moodle knows")
    return placed, unknown


def _place(roster: Roster, mark: Mark) -> int | None:
    """Return the place of the person with a mark: by id, then by the name of the submission, then by name."""
    for name in filter(None, (mark.id, mark.submission, mark.name)):
        person = roster.find_by_other_name(name)
        if person is not None:
            return int(person.id)
    return None


def _participant(sheet: Worksheet, row: tuple[str, ...]) -> str:
    match = _PARTICIPANT.fullmatch(sheet.cell(row, "identifier"))
    if match is None:
        text = sheet.cell(row, "identifier")
        raise ExportError(f"{sheet.path} has the identifier {text!r}, which Moodle did not write. Download it again")
    return match[1]


def _number(sheet: Worksheet, row: tuple[str, ...], column: str) -> float:
    text = sheet.cell(row, column)
    try:
        return float(text.replace(",", "."))
    except ValueError:
        problem = f"{sheet.path} has {text!r} as {sheet.header[sheet.at[column]]}, which is not a number"
        raise ExportError(f"{problem}. The assignment must be graded with points, not with a scale") from None

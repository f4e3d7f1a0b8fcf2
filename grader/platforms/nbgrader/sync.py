"""Sync: writes the reports of `attn grade --to` into nbgrader's gradebook, in one transaction for each submission.

You can stop a sync at any point and run it again: it writes only what is missing or different.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import nbformat
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory

from grader.classroom import ClassError
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.marks import Mark
from grader.classroom.store.store import ResultsStore, StoredReport, has_reports, read_marks
from grader.core.atomic_file import write_atomically
from grader.core.report import Report
from grader.core.safe_text import plain_name
from grader.course.course import Course
from grader.course.module import Module
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.exporter import (
    answers_open_question,
    notebook_of,
    plain_notebook,
    released_cells,
    restore_locked,
)
from grader.platforms.nbgrader.gradebook import ScoresError, clear, enter, open_gradebook
from grader.platforms.nbgrader.late_plugin import late_penalty, total
from grader.platforms.nbgrader.release import read_config
from grader.platforms.nbgrader.scores import NotGradedError, TargetScore, scores_of
from grader.submission.archive import NOTEBOOK, UnreadableError, read_file
from grader.submission.finder import find_submissions
from grader.submission.submission import SubmissionRef, submission_hash

STAMP = "timestamp.txt"
SyncOutcome = Literal["written", "unchanged", "not graded", "refused"]


@dataclass(frozen=True)
class Synced:
    """The outcome of the sync of one report."""

    module: str
    student: str
    outcome: SyncOutcome
    score: float | None = None
    penalty: float = 0.0
    problem: str = ""
    time_known: bool = True  # if not, there is no late penalty
    note: str = ""  # what a person should do, although the scores are written


@dataclass(frozen=True)
class _Results:
    """The results of a class: its marks and the journal."""

    marks: Mapping[tuple[str, str], Mark]
    journal: Mapping[ReportKey, JournalEntry]


def sync(course: Course, store: ResultsStore, root: Path, *, db: str = "") -> Generator[Synced]:
    """Write every report of a class into the gradebook of a course directory, and yield the outcome of each."""
    config = read_config(root)
    coursedir = CourseDirectory(config=config)
    results = _read(course, store)
    with open_gradebook(db or coursedir.db_url, coursedir.course_id) as book:
        book.db().expire_on_commit = False  # otherwise every row is read again after every submission
        for module in course.modules:
            if has_reports(store, module.name):
                writer = _GradebookWriter(course, module, config, coursedir, book, results)
                yield from map(writer.sync, store.stored(module.name))


def _read(course: Course, store: ResultsStore) -> _Results:
    if not any(has_reports(store, module.name) for module in course.modules):
        raise CourseDirError(f"there are no reports in {store}. To make them, run: attn grade ... --to {store.name}")
    try:
        marks = read_marks(store)
    except ClassError as error:
        raise CourseDirError(str(error)) from None
    return _Results({(one.module, one.submission): one for one in marks}, store.journal())


class _GradebookWriter:
    """Writes the reports of one module into the gradebook."""

    def __init__(
        self, course: Course, module: Module, config: Any, coursedir: Any, book: Gradebook, results: _Results
    ) -> None:
        self.course = course
        self.module = module
        self.config = config
        self.coursedir = coursedir
        self.book = book
        self.results = results
        try:
            self.assignment = book.find_assignment(module.name)
            self.known = released_cells(book, module.slug, module.name)
        except MissingEntry:
            fix = f"To release it, run: attn release {module.slug} --to {coursedir.root}"
            raise CourseDirError(f"{module.name} has not been released in {coursedir.root}. {fix}") from None
        folders = Path(coursedir.root, coursedir.submitted_directory).glob("*")
        self.students = {plain_name(path.name): path.name for path in folders if path.is_dir()}

    def sync(self, stored: StoredReport) -> Synced:
        """Enter the scores, comments and late penalty of one report, in one transaction or not at all."""
        try:
            report = stored.report()
        except (OSError, ValueError) as error:
            return Synced(self.module.name, stored.name, "refused", problem=f"{stored.where} cannot be read: {error}")
        student = self._student(report)
        if Path(student).name != student:
            return Synced(self.module.name, student, "refused", problem="has a name that cannot be a folder name")
        if self._is_stale(report, student):
            problem = "has submitted again since the grading. Grade again with --resume"
            return Synced(self.module.name, student, "refused", problem=problem)
        try:
            with self.book.db.no_autoflush:  # write all of it to the database at once
                synced = self._enter(report, student)
            self.book.db.commit()
            return synced
        except ScoresError as error:
            self.book.db.rollback()
            return Synced(self.module.name, student, "refused", problem=str(error))
        except BaseException:
            self.book.db.rollback()
            raise

    def _mark(self, report: Report) -> Mark | None:
        """Return the line of a report in the class list."""
        return self.results.marks.get((report.module, report.submission))

    def _student(self, report: Report) -> str:
        """Return the name of a student in nbgrader: that of the folder, or else the id on the roster."""
        mark = self._mark(report)
        return self.students.get(report.submission) or (mark.id if mark and mark.id else report.submission)

    def _enter(self, report: Report, student: str) -> Synced:
        notebook, note = self._notebook_to_show(report, student)
        row = self._row(student)
        try:
            # An answer that cannot be seen here is not a 0: a person must look for it.
            enter(row, self._scores(report), True if note else answers_open_question(notebook))
        except NotGradedError as error:
            clear(row)
            row.late_submission_penalty = None
            # With it, formgrader would count it as graded.
            shutil.rmtree(self._place("autograded", student), ignore_errors=True)
            return Synced(self.module.name, student, "not graded", report.score, problem=str(error))
        penalty = self._penalty(report, row) or 0.0
        known = self._is_time_known(report, row)
        row.late_submission_penalty = penalty or None
        outcome: SyncOutcome = "written" if self._is_changed() else "unchanged"
        self._write(notebook, student)
        by_hand = self._by_hand(report)
        return Synced(self.module.name, student, outcome, report.score, penalty, by_hand, known, note)

    def _scores(self, report: Report) -> tuple[TargetScore, ...]:
        """Return the scores of a report. The comment that a person gave with `attn mark` is in the first of them."""
        first, *others = scores_of(report)
        mark = self._mark(report)
        if mark is not None and mark.comment:
            first = replace(first, comment=f"{mark.comment}\n\n{first.comment}")
        return first, *others

    def _by_hand(self, report: Report) -> str:
        """Say which points a person gave with `attn mark`: in the gradebook, a person enters them in formgrader."""
        mark = self._mark(report)
        if mark is None or mark.override is None:
            return ""
        automatic = "none" if mark.automatic is None else f"{mark.automatic:g}"
        return f"has {mark.override:g} points by hand (automatic: {automatic}). Enter them in formgrader"

    def _is_time_known(self, report: Report, row: Any) -> bool:
        """Whether it is known when work was handed in, or nothing is due."""
        mark = self._mark(report)
        if mark is not None and mark.due:
            return mark.time_known
        return row.assignment.timestamp is not None or self.assignment.duedate is None

    def _row(self, student: str) -> Any:
        """Return the row of a student's notebook. A new row is made with all that belongs to it, but not committed."""
        db = self.book.db
        person = db.get(Student, student) or Student(id=student)
        found = [one for one in person.submissions if one.assignment_id == self.assignment.id]
        submission = found[0] if found else self._new(person)
        submission.timestamp = self.coursedir.get_existing_timestamp(str(self._place("submitted", student)))
        return submission.notebooks[0]

    def _new(self, person: Any) -> Any:
        submission = SubmittedAssignment(assignment=self.assignment, student=person)
        for notebook in self.assignment.notebooks:
            row = SubmittedNotebook(notebook=notebook, assignment=submission)
            for cell in notebook.grade_cells:
                Grade(cell_id=cell.id, notebook=row)
            for cell in notebook.solution_cells:
                Comment(cell_id=cell.id, notebook=row)
        self.book.db.add(submission)
        return submission

    def _penalty(self, report: Report, row: Any) -> float | None:
        """Return the late penalty: that of `attn grade` if it had a due date, or else that of nbgrader."""
        mark = self._mark(report)
        if mark is not None and mark.due:
            return min(mark.penalty, total(row))
        return late_penalty(self.config, self.book, row)

    def _is_stale(self, report: Report, student: str) -> bool:
        """Whether the submission in `submitted/` is not the one that was graded."""
        entry = self.results.journal.get(ReportKey(report.module, report.submission))
        if entry is None or not self._place("submitted", student).is_dir():
            return False
        found = self._handed_in(student)
        return not any(submission_hash(one.read()) == entry.provenance.submission for one in found)

    def _handed_in(self, student: str) -> Sequence[SubmissionRef]:
        folder = self._place("submitted", student).parent
        return find_submissions(self.course, [folder], self.module, "latest", student=student).handed_in

    def _notebook_to_show(self, report: Report, student: str) -> tuple[Any, str]:
        """Return the notebook that formgrader shows, with the locked cells as they were released.

        It is the submission, whatever its name is. The second value says that a graded notebook is not here.
        """
        data = self._submitted_notebook(student)
        path = self._place("submitted", student) / self.module.notebook.name
        note = ""
        if data is None and not path.exists() and report.file.endswith(NOTEBOOK):
            note = f"{report.file} is not in {self._place('submitted', student)}: grade the open answer by hand"
        missing = f"{report.file} was not submitted through nbgrader"
        notebook = plain_notebook(path, self.known, missing) if data is None else notebook_of(data, self.known)
        restore_locked(notebook, self.known)
        return notebook, note

    def _submitted_notebook(self, student: str) -> bytes | None:
        """Return the notebook that nbgrader knows, or that was graded, or that has the answer in words."""
        folder = self._place("submitted", student)
        if (folder / self.module.notebook.name).exists() or not folder.is_dir():
            return None
        graded = [one.piece for one in self._handed_in(student) if one.piece.location.below.suffix.lower() == NOTEBOOK]
        for piece in graded:
            with contextlib.suppress(UnreadableError, OSError):
                return piece.data()
        for path in sorted(folder.glob(f"*{NOTEBOOK}")):
            with contextlib.suppress(UnreadableError, OSError):
                data = read_file(path).data
                if answers_open_question(notebook_of(data, self.known)):
                    return data
        return None

    def _write(self, notebook: Any, student: str) -> None:
        """Write the notebook to the folder that formgrader reads, with the timestamp that it compares."""
        folder = self._place("autograded", student)
        texts = {self.module.notebook.name: f"{nbformat.writes(notebook)}\n"}
        stamp = self._place("submitted", student) / STAMP
        if stamp.is_file():
            texts[STAMP] = stamp.read_text(encoding="utf-8")
        for name, text in texts.items():
            if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
                write_atomically(folder / name, text)

    def _place(self, step: str, student: str) -> Path:
        names = {"submitted": self.coursedir.submitted_directory, "autograded": self.coursedir.autograded_directory}
        return Path(self.coursedir.format_path(names[step], student, self.module.name))

    def _is_changed(self) -> bool:
        db = self.book.db
        return bool(db.new) or any(db.is_modified(one) for one in db.dirty)

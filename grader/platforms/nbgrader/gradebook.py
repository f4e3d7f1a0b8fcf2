"""nbgrader's gradebook: writes scores, in one transaction for each submission, and keeps manual scores."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy.exc import SQLAlchemyError

from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.scores import TargetScore
from grader.submission.assignment_cells import OPEN_ANSWER, id_of_answer, id_of_test


class ScoresError(Exception):
    """Scores that do not fit what was released."""


def make_gradebook(url: str, course_id: str) -> None:
    """Make the gradebook of a course, or check that the existing one can be opened."""
    with open_gradebook(url, course_id):
        pass


@contextlib.contextmanager
def open_gradebook(url: str, course_id: str) -> Iterator[Gradebook]:
    """Open a gradebook, and make it if it does not exist; CourseDirError if the URL is wrong or nothing answers."""
    try:
        with _own_programs_on_path():
            book = Gradebook(url, course_id)
    except (SQLAlchemyError, ImportError, OSError, subprocess.SubprocessError) as error:
        fix = "Check the URL (--db, or db_url in nbgrader_config.py), and that the database runs"
        reason = str(error).partition("\n")[0]
        raise CourseDirError(f"the gradebook cannot be opened: {reason}. {fix}") from None
    with book:
        yield book


def record(book: Gradebook, module: str, student: str, scores: Iterable[TargetScore], answered: bool | None) -> None:
    """Write all scores of a submission that is in the gradebook, or none of them."""
    enter(book.find_submission_notebook(module[3:], module, student), scores, answered)
    book.db.commit()


def enter(row: Any, scores: Iterable[TargetScore], answered: bool | None) -> None:
    """Enter scores into the row of a submitted notebook; the caller commits.

    Points go to the locked test cells, comments to the answer cells. Manual scores stay. If the automatic score of the
    same cell changes, the cell is marked for manual grading again. `answered` says whether the open question is
    answered, and is None if there is no open question.
    """
    cells = {cell.id: cell for cell in (*row.notebook.grade_cells, *row.notebook.solution_cells)}
    grades = {cells[grade.cell_id].name: grade for grade in row.grades}
    comments = {cells[comment.cell_id].name: comment for comment in row.comments}
    for one in scores:
        grade = grades.get(id_of_test(one.target))
        points = None if grade is None else cells[grade.cell_id].max_score
        if points is None or (one.points is not None and abs(points - one.points) > 1e-6):
            released = "no points" if points is None else f"{points:g} points"
            current = "some" if one.points is None else f"{one.points:g}"
            raise ScoresError(
                f"{one.target} was released with {released}, but is now worth {current}. Release it again"
            )
        _set_score(grade, one.earned, needs_manual_grade=one.review)
        comments[id_of_answer(one.target)].auto_comment = one.comment
    if answered is not None and OPEN_ANSWER in grades:
        _set_score(grades[OPEN_ANSWER], None if answered else 0.0, needs_manual_grade=answered)
        comments[OPEN_ANSWER].auto_comment = None if answered else "No response."


def _set_score(grade: Any, score: float | None, *, needs_manual_grade: bool) -> None:
    before, grade.auto_score = grade.auto_score, score
    if grade.manual_score is None:
        grade.needs_manual_grade = needs_manual_grade
    elif before != score:
        grade.needs_manual_grade = True


def withdraw(book: Gradebook, assignment: str, student: str) -> None:
    """Remove the automatic scores of a submission that could not be graded: it has no score, and needs one."""
    for row in book.find_submission(assignment, student).notebooks:
        clear(row)
    book.db.commit()


def clear(row: Any) -> None:
    """Remove the automatic scores and comments from the row of a submitted notebook."""
    for grade in row.grades:
        grade.auto_score = None
        grade.needs_manual_grade = True
    for comment in row.comments:
        comment.auto_comment = None


@contextlib.contextmanager
def _own_programs_on_path() -> Iterator[None]:
    """Let nbgrader find `alembic` even if no environment is activated. It runs it to make a new gradebook."""
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        yield
    finally:
        os.environ["PATH"] = path

"""nbgrader's gradebook: scores in, one transaction a submission; what a person has written there stays."""

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

from grader.platforms.nbgrader.errors import CourseDirError
from grader.platforms.nbgrader.scores import TargetScore
from grader.submission.assignment_cells import OPEN_ANSWER, id_of_answer, id_of_test


class ScoresError(Exception):
    """Scores that do not fit what was released."""


def make_gradebook(url: str, course_id: str) -> None:
    """Make the gradebook of a course, or see that one is there that can be used."""
    try:
        with open_gradebook(url, course_id):
            pass
    except (SQLAlchemyError, ImportError, OSError, subprocess.SubprocessError) as error:
        raise CourseDirError(f"the gradebook cannot be opened: {error}") from None


@contextlib.contextmanager
def open_gradebook(url: str, course_id: str) -> Iterator[Gradebook]:
    """Open a gradebook, and make it if it is not there."""
    with _own_programs():
        book = Gradebook(url, course_id)
    with book:
        yield book


def record(book: Gradebook, module: str, student: str, scores: Iterable[TargetScore], answered: bool | None) -> None:
    """Write the scores of a submission that nbgrader knows, all of them or none."""
    enter(book.find_submission_notebook(module[3:], module, student), scores, answered)
    book.db.commit()


def enter(row: Any, scores: Iterable[TargetScore], answered: bool | None) -> None:
    """Enter scores into the row of a submitted notebook, for whoever commits it.

    Points go to the locked test cells, comments to the answer cells. What a person gave stays; if the automatic score
    beside it changes, it is to be looked at again. `answered` is about the open question, if there is one.
    """
    cells = {cell.id: cell for cell in (*row.notebook.grade_cells, *row.notebook.solution_cells)}
    grades = {cells[grade.cell_id].name: grade for grade in row.grades}
    comments = {cells[comment.cell_id].name: comment for comment in row.comments}
    for one in scores:
        grade = grades.get(id_of_test(one.target))
        points = None if grade is None else cells[grade.cell_id].max_score
        if points is None or (one.points is not None and abs(points - one.points) > 1e-6):
            had = "no points" if points is None else f"{points:g} points"
            now = "some" if one.points is None else f"{one.points:g}"
            raise ScoresError(f"{one.target} was released with {had}, and is now worth {now}: release it again")
        _give(grade, one.earned, needs_a_person=one.review)
        comments[id_of_answer(one.target)].auto_comment = one.comment
    if answered is not None and OPEN_ANSWER in grades:
        _give(grades[OPEN_ANSWER], None if answered else 0.0, needs_a_person=answered)
        comments[OPEN_ANSWER].auto_comment = None if answered else "No response."


def _give(grade: Any, score: float | None, *, needs_a_person: bool) -> None:
    before, grade.auto_score = grade.auto_score, score
    if grade.manual_score is None:
        grade.needs_manual_grade = needs_a_person
    elif before != score:
        grade.needs_manual_grade = True


def withdraw(book: Gradebook, assignment: str, student: str) -> None:
    """Take back what was scored automatically: a submission that could not be graded has no score, and needs one."""
    for row in book.find_submission(assignment, student).notebooks:
        clear(row)
    book.db.commit()


def clear(row: Any) -> None:
    """Take the automatic scores and comments out of the row of a submitted notebook."""
    for grade in row.grades:
        grade.auto_score = None
        grade.needs_manual_grade = True
    for comment in row.comments:
        comment.auto_comment = None


@contextlib.contextmanager
def _own_programs() -> Iterator[None]:
    """Let nbgrader find `alembic`, which a new gradebook asks for its version, though no environment is activated."""
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        yield
    finally:
        os.environ["PATH"] = path

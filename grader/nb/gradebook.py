"""nbgrader's gradebook: scores in, one transaction a submission; what a person has written there stays."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbgrader.api import Gradebook
from sqlalchemy.exc import SQLAlchemyError

from grader.nb.cells import OPEN_ANSWER, id_of_answer, id_of_test
from grader.nb.coursedir import CourseDirError
from grader.nb.scores import TargetScore


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
    """Write the scores of a submission that nbgrader knows, all of them or none.

    Points go to the locked test cells, comments to the answer cells. What a person gave stays, and is to be looked at
    again. `answered` says whether the open question has an answer; None leaves it as it is.
    """
    row = book.find_submission_notebook(module[3:], module, student)
    grades = {grade.cell.name: grade for grade in row.grades}
    comments = {comment.cell.name: comment for comment in row.comments}
    for one in scores:
        grade = grades.get(id_of_test(one.target))
        if grade is None or (one.points is not None and abs(grade.max_score - one.points) > 1e-6):
            had = "no points" if grade is None else f"{grade.max_score:g} points"
            now = "some" if one.points is None else f"{one.points:g}"
            raise ScoresError(f"{one.target} was released with {had}, and is now worth {now}: release it again")
        grade.auto_score = one.earned
        grade.needs_manual_grade = one.review or grade.manual_score is not None
        comments[id_of_answer(one.target)].auto_comment = one.comment
    if answered is not None and OPEN_ANSWER in grades:
        grade = grades[OPEN_ANSWER]
        grade.auto_score = None if answered else 0.0
        grade.needs_manual_grade = answered or grade.manual_score is not None
        comments[OPEN_ANSWER].auto_comment = None if answered else "No response."
    book.db.commit()


def withdraw(book: Gradebook, assignment: str, student: str) -> None:
    """Take back what was scored automatically: a submission that could not be graded has no score, and needs one."""
    for row in book.find_submission(assignment, student).notebooks:
        for grade in row.grades:
            grade.auto_score = None
            grade.needs_manual_grade = True
        for comment in row.comments:
            comment.auto_comment = None
    book.db.commit()


@contextlib.contextmanager
def _own_programs() -> Iterator[None]:
    """Let nbgrader find `alembic`, which a new gradebook asks for its version, though no environment is activated."""
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        yield
    finally:
        os.environ["PATH"] = path

"""`attn gradebook sync` where a time is unknown, or a notebook has another name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grader.classroom.store.files import FileStore
from grader.core.times import read_time
from grader.course.course import Course
from grader.platforms.nbgrader.release import release_modules
from grader.platforms.nbgrader.sync import Synced, sync
from tests.platforms.nbgrader.conftest import gradebook
from tests.platforms.nbgrader.students import MODULE, RIGHT, Notebook, hand_in
from tests.platforms.nbgrader.test_sync import attn

pytestmark = pytest.mark.exhaustive

DUE = "2026-08-10 00:00 UTC"


@pytest.fixture(scope="module")
def synced(
    released: Path, course: Course, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, dict[str, Synced], str]:
    """A class in which ana has no timestamp, ben renamed the notebook, and cy handed in a script beside it."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("answers") / "attention")
    release_modules(course, course.modules[:1], root, due=read_time(DUE))
    right = Notebook(root / "release" / MODULE / "softmax.ipynb").answer(RIGHT)
    for student in ("ana", "ben", "cy"):
        hand_in(root, student, right.text)
    submitted = root / "submitted"
    (submitted / "ana" / MODULE / "timestamp.txt").unlink()
    os.utime(submitted / "ana" / MODULE / "softmax.ipynb")  # the file itself is of today
    (submitted / "ben" / MODULE / "softmax.ipynb").rename(submitted / "ben" / MODULE / "Softmax (1).ipynb")
    (submitted / "cy" / MODULE / "softmax.ipynb").rename(submitted / "cy" / MODULE / "my answer.ipynb")
    solution = course.solution(course.modules[0]).read_bytes()
    (submitted / "cy" / MODULE / "softmax.py").write_bytes(solution)
    reports = root.parent / "reports"
    done = attn("grade", submitted, "--to", reports, "--due", DUE, "--late-penalty", "100%/day")
    assert done.returncode == 0, done.stderr
    return root, reports, {one.student: one for one in sync(course, FileStore(reports), root)}, done.stderr


def test_an_unknown_time_is_said_and_costs_nothing(synced: tuple[Path, Path, dict[str, Synced], str]) -> None:
    root, reports, done, said = synced
    assert "submission time unknown for 1 of 3: no late penalty" in said
    assert {student: one.time_known for student, one in done.items()} == {"ana": False, "ben": True, "cy": True}
    assert {one.penalty for one in done.values()} == {0.0}
    with gradebook(root) as book:
        assert book.find_submission(MODULE, "ana").score == 46.0
    again = attn("gradebook", "sync", reports, "--nbgrader", root)
    assert "submission time unknown for 1 of 3: no late penalty (ana)" in again.stdout
    exported = attn("export", "csv", reports, "--out", reports.parent / "class.csv")
    assert "submission time unknown for 1 of 3: no late penalty" in exported.stderr


@pytest.mark.parametrize("student", ["ana", "ben", "cy"])
def test_the_open_answer_follows_a_renamed_notebook(
    synced: tuple[Path, Path, dict[str, Synced], str], student: str
) -> None:
    root = synced[0]
    with gradebook(root) as book:
        grade = book.find_grade("open-answer", "softmax", MODULE, student)
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)
    shown = (root / "autograded" / student / MODULE / "softmax.ipynb").read_text()
    assert "When the scores are 750 apart." in shown


def test_an_answer_that_is_not_here_is_not_a_0(
    synced: tuple[Path, Path, dict[str, Synced], str], course: Course, tmp_path: Path
) -> None:
    """A notebook that was graded elsewhere: nobody can see the answer in nbgrader's folders."""
    root = shutil.copytree(synced[0], tmp_path / "attention")
    shutil.rmtree(root / "submitted" / "ben")
    (one,) = [one for one in sync(course, FileStore(synced[1]), root) if one.student == "ben"]
    assert "grade the open answer by hand" in one.note
    with gradebook(root) as book:
        grade = book.find_grade("open-answer", "softmax", MODULE, "ben")
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)

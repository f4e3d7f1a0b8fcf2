"""`nbgrader autograde` with real nbgrader and our jail: scores, comments, feedback and faults."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from grader.course.course import Course
from grader.course.module import CourseError
from grader.course.notebook import make_notebook
from grader.grading.pool import Graded
from grader.grading.workers import NoJailError
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.platforms.nbgrader.conftest import Nbgrader, autograde, gradebook, scores
from tests.platforms.nbgrader.students import MALICIOUS, MODULE, NO_MAXIMUM, RIGHT, Notebook, hand_in

FULL = 46.0


def attn_grade(root: Path) -> dict[str, dict[str, Any]]:
    """Grade `submitted/` by `attn grade`, and return the reports by student."""
    command = [EXECUTABLE, "grade", str(root / "submitted"), "--module", MODULE, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {report["submission"]: report for report in json.loads(done.stdout)}


def class_of_all_kinds(root: Path, notebook: Notebook, mark: Path) -> None:
    """Submit the notebooks of a class, some of them malicious."""
    right = notebook.answer(RIGHT)
    hand_in(root, "ana", right.text)
    hand_in(root, "ben", right.write("answer-softmax", NO_MAXIMUM).text)
    hand_in(root, "carl", right.text, when="2026-08-12 09:30:00 UTC")
    malicious = MALICIOUS.format(course=ROOT, mark=mark)
    hand_in(root, "dora", right.write("answer-softmax", malicious).text)
    hand_in(root, "emil", notebook.text)
    edited = right.write("imports-1", "import numpy as np\nimport math").write(
        "test-softmax", "def softmax(x): return 1"
    )
    edited.cell("test-softmax")["metadata"]["nbgrader"]["points"] = 1000
    hand_in(root, "fay", edited.text)
    hand_in(root, "gus", notebook.text[:300])
    strange = right.add("markdown", "x", nbgrader={"schema_version": 99, "grade": True})
    strange.cell("answer-softmax")["metadata"]["nbgrader"]["schema_version"] = 99
    strange.cell("open-answer")["metadata"]["nbgrader"]["grade"] = "no"
    hand_in(root, "hal", strange.text)
    hand_in(root, "ida", right.without("test-softmax").without("open-answer").without("answer-reflect").text)
    script = hand_in(root, "jo", right.text).with_name("softmax.py")
    script.write_text("def softmax(x): return x\n")  # only the released notebook counts, not other files
    helper = right.write("answer-softmax", "# see below").add("code", RIGHT["softmax"])
    hand_in(root, "kim", helper.text)
    hand_in(root, "lea", right.write("answer-softmax", "while True: pass").text)
    hand_in(root, "max", json.dumps({"nbformat": 4, "cells": [1, None, {"cell_type": "code"}]}))
    hand_in(root, "ned", right.add("raw", "<script>alert(1)</script>").add("code", "print('\ud800')").text)


@pytest.fixture(scope="module")
def graded(
    released: Path, nbgrader: Nbgrader, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A course directory after the autograding of a class, and the result of that command."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("class") / "attention")
    class_of_all_kinds(root, Notebook(released / "release" / MODULE / "softmax.ipynb"), root / "mark")
    return root, nbgrader(root, "autograde", MODULE)


@pytest.mark.exhaustive
def test_scores_are_those_of_attn_grade(graded: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    root, done = graded
    assert done.returncode == 0, done.stderr
    reports = attn_grade(root)
    assert scores(root) == {student: report["score"] for student, report in reports.items()}
    assert len(reports) == 14
    full = {student for student, score in scores(root).items() if score == FULL}
    assert full == {"ana", "carl", "fay", "hal", "jo", "kim", "ned"}
    nothing = {student for student, score in scores(root).items() if score == 0}
    assert nothing == {"emil", "gus", "lea", "max"}


@pytest.mark.exhaustive
def test_no_submission_left_the_jail(graded: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    root, _ = graded
    assert not (root / "mark").exists()


@pytest.mark.exhaustive
def test_points_come_from_the_release_not_from_the_notebook(
    graded: tuple[Path, subprocess.CompletedProcess[str]], course: Course
) -> None:
    root, _ = graded
    with gradebook(root) as book:
        for submission in book.assignment_submissions(MODULE):
            grades = submission.notebooks[0].grades
            automatic = [grade.max_score for grade in grades if grade.name.startswith("test-")]
            assert sum(automatic) == course.module(MODULE).points
            assert submission.max_score == course.module(MODULE).points + 5


@pytest.mark.exhaustive
def test_comments_say_what_is_wrong_without_hidden_details(
    graded: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    root, _ = graded
    with gradebook(root) as book:
        comment = book.find_comment("answer-softmax", "softmax", MODULE, "ben").comment
        assert "no_max_subtraction" in comment
        assert "of 26 points" in comment
        assert book.find_comment("answer-softmax", "softmax", MODULE, "ana").comment == "26 of 26 points."
        assert "the notebook is not JSON" in book.find_comment("answer-softmax", "softmax", MODULE, "gus").comment
        comments = "\n".join(
            one.comment or "" for one in book.find_submission_notebook("softmax", MODULE, "ben").comments
        )
    assert "not true for your code: " in comments
    assert "first at" not in comments  # what a hidden check found, and where, is in `detail`


@pytest.mark.exhaustive
def test_open_answers_need_manual_grading(graded: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    root, _ = graded
    with gradebook(root) as book:
        answered = book.find_grade("open-answer", "softmax", MODULE, "ana")
        assert (answered.auto_score, answered.needs_manual_grade) == (None, True)
        empty = book.find_grade("open-answer", "softmax", MODULE, "emil")
        assert (empty.auto_score, empty.needs_manual_grade) == (0.0, False)
        assert book.find_comment("open-answer", "softmax", MODULE, "emil").comment == "No response."


@pytest.mark.exhaustive
def test_shown_notebooks_have_the_released_tests_and_nothing_hidden(
    graded: tuple[Path, subprocess.CompletedProcess[str]], notebook: Notebook, course: Course
) -> None:
    root, _ = graded
    hidden = {line.strip() for line in course.hidden_suite(course.module(MODULE)).read_text().splitlines()}
    hidden = {line for line in hidden if len(line) >= 30} - set(course.module(MODULE).checks.read_text().splitlines())
    given = "".join(notebook.cell("test-softmax")["source"])
    for student in scores(root):
        shown = Notebook(root / "autograded" / student / MODULE / "softmax.ipynb")
        assert "".join(shown.cell("test-softmax")["source"]) == given, student
        text = "\n".join("".join(cell["source"]) for cell in shown.data["cells"])
        assert not [line for line in hidden if line in text], student


@pytest.mark.exhaustive
def test_feedback_is_complete_and_runs_nothing(
    graded: tuple[Path, subprocess.CompletedProcess[str]], nbgrader: Nbgrader, course: Course
) -> None:
    root, _ = graded
    done = nbgrader(root, "generate_feedback", MODULE)
    assert done.returncode == 0, done.stderr
    secret = [course.hidden_suite(course.module(MODULE)), course.solution(course.module(MODULE))]
    public = course.module(MODULE).checks.read_text() + course.stub_text(course.module(MODULE))
    lines = {line.strip() for path in secret for line in path.read_text().splitlines()}
    lines = {line for line in lines if len(line) >= 20 and line not in public}
    assert len(lines) > 50
    for student in scores(root):
        page = (root / "feedback" / student / MODULE / "softmax.html").read_text()
        words = plain_text(page)
        assert not [line for line in lines if line in words], student
        assert "<script>alert" not in page
    assert "no_max_subtraction" in (root / "feedback" / "ben" / MODULE / "softmax.html").read_text()


def plain_text(page: str) -> str:
    """Return the text of a page, without its markup."""
    return str(BeautifulSoup(page, "html.parser").get_text())


@pytest.mark.exhaustive
def test_grading_one_student_again_keeps_manual_scores(course_dir: Path, notebook: Notebook) -> None:
    hand_in(course_dir, "ana", notebook.answer(RIGHT).write("answer-softmax", NO_MAXIMUM).text)
    hand_in(course_dir, "ben", notebook.text)
    assert autograde(course_dir, "ana")["success"]
    assert list(scores(course_dir)) == ["ana"]
    assert scores(course_dir)["ana"] != FULL
    with gradebook(course_dir) as book:
        book.find_grade("test-softmax", "softmax", MODULE, "ana").manual_score = 20.0
        book.find_grade("open-answer", "softmax", MODULE, "ana").manual_score = 4.0
        book.find_comment("answer-softmax", "softmax", MODULE, "ana").manual_comment = "See me."
        book.db.commit()
    hand_in(course_dir, "ana", notebook.answer(RIGHT).text, when="2026-08-10 12:00:00 UTC")
    assert autograde(course_dir, "ana")["success"]
    assert scores(course_dir) == {"ana": FULL}
    with gradebook(course_dir) as book:
        grade = book.find_grade("test-softmax", "softmax", MODULE, "ana")
        assert (grade.score, grade.auto_score, grade.needs_manual_grade) == (20.0, 26.0, True)
        assert book.find_grade("open-answer", "softmax", MODULE, "ana").score == 4.0
        assert book.find_comment("answer-softmax", "softmax", MODULE, "ana").comment == "See me."


@pytest.mark.exhaustive
def test_a_grader_fault_is_reported_and_leaves_no_score(
    course_dir: Path, course_copy: Course, notebook: Notebook
) -> None:
    hand_in(course_dir, "ana", notebook.answer(RIGHT).text)
    assert autograde(course_dir, "ana")["success"]
    suite = course_copy.hidden_suite(course_copy.module(MODULE))
    text = suite.read_text()
    broken = "def test_softmax_square_rows(student, rng):\n"
    assert broken in text
    suite.write_text(text.replace(broken, broken + "    1 / 0\n"))
    result = autograde(course_dir, "ana", course=str(course_copy.root))
    assert not result["success"]
    assert "ana was not graded in 01_softmax: a fault of the grader" in result["log"]
    assert scores(course_dir) == {"ana": None}
    assert not (course_dir / "autograded" / "ana" / MODULE).exists()
    suite.write_text(text)
    assert autograde(course_dir, "ana", course=str(course_copy.root))["success"]
    assert scores(course_dir) == {"ana": FULL}


def test_points_that_changed_since_the_release_are_not_written(
    course_dir: Path, course_copy: Course, notebook: Notebook
) -> None:
    hand_in(course_dir, "ana", notebook.answer(RIGHT).text)
    toml = course_copy.module(MODULE).folder / "module.toml"
    toml.write_text(toml.read_text().replace("points = 46", "points = 49").replace("points = 3\n", "points = 6\n"))
    result = autograde(course_dir, "ana", course=str(course_copy.root))
    assert not result["success"]
    assert "softmax was released with 26 points, but is now worth 29. Release it again" in result["log"]
    assert scores(course_dir) == {"ana": None}


def test_an_earlier_module_of_the_same_student_can_be_imported(course_dir: Path, notebook: Notebook) -> None:
    """It is found in the student's other assignments, where nbgrader keeps it."""
    answer = (
        RIGHT["softmax"].replace("np.amax", "largest").replace("\n", "\nfrom mylab.loop_attention import largest\n", 1)
    )
    hand_in(course_dir, "ana", notebook.answer(RIGHT | {"softmax": answer}).text)
    assert autograde(course_dir, "ana")["success"]
    assert scores(course_dir)["ana"] != FULL
    earlier = make_notebook(
        "import numpy as np\n\n\ndef largest(*args, **kwargs):\n    return np.amax(*args, **kwargs)\n", "x"
    )
    hand_in(course_dir, "ana", earlier, module="02_loop_attention")
    assert autograde(course_dir, "ana")["success"]
    assert scores(course_dir)["ana"] == FULL


@pytest.mark.exhaustive
def test_other_assignments_are_not_run(course_dir: Path, notebook: Notebook, nbgrader: Nbgrader) -> None:
    source = course_dir / "source" / "extra"
    source.mkdir()
    (source / "extra.ipynb").write_text(notebook.text)
    assert nbgrader(course_dir, "generate_assignment", "extra").returncode == 0
    place = hand_in(course_dir, "ana", notebook.add("code", f"open({str(course_dir / 'mark')!r}, 'w')").text)
    place.rename(place.with_name("extra.ipynb"))
    place.parent.rename(place.parent.with_name("extra"))
    done = nbgrader(course_dir, "autograde", "extra")
    assert done.returncode == 1
    assert "is not an AttnLab module, and only those are run here" in done.stderr
    assert not (course_dir / "mark").exists()


def test_without_attnlab_nothing_is_executed(course_dir: Path, notebook: Notebook, tmp_path: Path) -> None:
    hand_in(course_dir, "ana", notebook.add("code", f"open({str(tmp_path / 'mark')!r}, 'w')").text)
    code = "import sys; sys.modules['grader'] = None\nfrom nbgrader.apps.nbgraderapp import main\nmain()"
    command = [sys.executable, "-c", code, "autograde", MODULE]
    done = subprocess.run(command, cwd=course_dir, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "grader" in done.stderr
    assert set(scores(course_dir).values()) <= {None}
    assert not (tmp_path / "mark").exists()


def test_without_a_jail_nothing_is_graded_unless_the_course_allows_it(
    course_dir: Path, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_jail(*_: object, allow_unjailed: bool, **__: object) -> Iterator[Graded]:
        if not allow_unjailed:
            raise NoJailError
        raise CourseError(course_dir, "", "was asked to grade", "")
        yield

    # How grade_in_pool behaves without a jail has its own tests. This one is about what nbgrader then reports.
    monkeypatch.setattr("grader.platforms.nbgrader.autograde.grade_in_pool", no_jail)
    for student in ("ana", "ben"):
        hand_in(course_dir, student, notebook.answer(RIGHT).text)
    for allowed, words in ((False, "AutogradeError: this machine"), (True, "grader.course.module.CourseError: ")):
        result = autograde(course_dir, "*", allow_unjailed=allowed)
        assert not result["success"]
        assert result["log"].count(words) == 2  # reported for each of them, not only for the first
    assert scores(course_dir) == {"ana": None, "ben": None}

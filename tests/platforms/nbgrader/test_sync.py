"""`attn gradebook sync`: the same gradebook as after `nbgrader autograde`, even after interruptions."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from grader.classroom.store.files import FileStore
from grader.core.report import Report, report_from, report_text
from grader.core.times import read_time
from grader.course.course import Course
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.release import release_modules
from grader.platforms.nbgrader.sync import Synced, sync
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.platforms.nbgrader.conftest import AttnHere, Nbgrader, autograde, gradebook, reconfigure, scores
from tests.platforms.nbgrader.students import MODULE, NO_MAXIMUM, RIGHT, Notebook, hand_in
from tests.waiting import wait_until

DUE = "2026-08-10 00:00 UTC"
STUDENTS = ("ana", "ben", "carl", "emil", "gus")


def attn(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `attn` in the course."""
    return subprocess.run([EXECUTABLE, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def graded(released: Path, course: Course, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A course directory with a class that is not in its gradebook yet, and the reports of `attn grade`."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("sync") / "attention")
    notebook = Notebook(root / "release" / MODULE / "softmax.ipynb")
    release_modules(course, course.modules[:1], root, due=read_time(DUE))
    right = notebook.answer(RIGHT)
    hand_in(root, "ana", right.text)
    hand_in(root, "ben", right.write("answer-softmax", NO_MAXIMUM).write("test-softmax", "changed").text)
    hand_in(root, "carl", right.text, when="2026-08-12 12:00:00 UTC")
    hand_in(root, "emil", notebook.text)
    hand_in(root, "gus", "{")
    reports = root.parent / "reports"
    done = attn("grade", root / "submitted", "--to", reports, "--due", DUE, "--late-penalty", "10%/day")
    assert done.returncode == 1, done.stderr
    return root, reports


@pytest.fixture
def copied(graded: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of the course directory and the reports."""
    root, reports = graded
    return shutil.copytree(root, tmp_path / "attention"), shutil.copytree(reports, tmp_path / "reports")


def contents(root: Path) -> dict[str, Any]:
    """Return everything in a gradebook about each student, except for the ids of rows."""
    found = {}
    with gradebook(root) as book:
        for one in book.assignment_submissions(MODULE):
            (row,) = one.notebooks
            found[one.student.id] = {
                "timestamp": one.timestamp,
                "penalty": row.late_submission_penalty,
                "grades": {one.name: (one.auto_score, one.manual_score, one.needs_manual_grade) for one in row.grades},
                "comments": {one.name: one.comment for one in row.comments},
                "score": one.score,
            }
    return found


def shown(root: Path) -> dict[str, list[Any]]:
    """Return the kind, text and nbgrader metadata of the cells that formgrader shows, for each student."""
    found = {}
    for path in sorted((root / "autograded").glob(f"*/{MODULE}/softmax.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        keys = ("cell_type", "source", "metadata")
        found[path.parent.parent.name] = [[cell[key] for key in keys] for cell in cells]
    return found


def by_student(done: list[Synced]) -> dict[str, str]:
    return {one.student: one.outcome for one in done}


@pytest.mark.exhaustive  # half a minute of nbgrader
def test_a_sync_gives_the_same_gradebook_as_nbgrader_autograde(
    copied: tuple[Path, Path], tmp_path: Path, nbgrader: Nbgrader
) -> None:
    root, reports = copied
    other = shutil.copytree(root, tmp_path / "other")
    lines = (
        '# c.AssignLatePenalties.plugin_class = "grader.platforms.nbgrader.late_plugin.LatePenalty"\n# c.LatePenalty'
    )
    reconfigure(other, lines, lines.replace("# ", ""))
    done = nbgrader(other, "autograde", MODULE)
    assert done.returncode == 0, done.stderr
    done = attn("gradebook", "sync", reports, "--nbgrader", root)
    assert (done.returncode, done.stdout) == (0, "5 reports: 5 written; 1 with a late penalty\n"), done.stderr
    assert contents(root) == contents(other)
    assert shown(root) == shown(other)
    assert contents(root)["carl"]["penalty"] == pytest.approx(13.8)


@pytest.mark.exhaustive
def test_formgrader_export_and_feedback_work_after_a_sync(copied: tuple[Path, Path], nbgrader: Nbgrader) -> None:
    root, reports = copied
    assert attn("gradebook", "sync", reports, "--nbgrader", root).returncode == 0
    assert nbgrader(root, "export").returncode == 0
    rows = [line.split(",") for line in (root / "grades.csv").read_text().splitlines()]
    found = {row[3]: (float(row[7]), float(row[8]), float(row[9])) for row in rows[1:]}
    assert found["ana"] == (46.0, 0.0, 46.0)
    assert found["carl"] == (46.0, 13.8, 32.2)
    assert nbgrader(root, "generate_feedback", MODULE).returncode == 0
    page = root / "feedback" / "ben" / MODULE / "softmax.html"
    assert "no_max_subtraction" in page.read_text()
    for _ in range(2):  # a second time, our page is replaced
        done = attn("feedback", reports, "--nbgrader", root)
        assert (done.returncode, done.stdout) == (0, f"{root / 'feedback'}: 5 pages\n"), done.stderr
        assert page.read_text().count("<iframe") == 1
        assert "What to do next" in page.read_text()
    # nbgrader also finds nothing left to grade.
    assert nbgrader(root, "autograde", MODULE).stderr.count("Skipping existing assignment") == len(STUDENTS)


def test_a_second_sync_changes_nothing_and_keeps_manual_scores(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    assert set(by_student(list(sync(course, FileStore(reports), root))).values()) == {"written"}
    with gradebook(root) as book:
        grade = book.find_grade("test-softmax", "softmax", MODULE, "ben")
        grade.manual_score, grade.needs_manual_grade = 21.0, False
        book.find_grade("open-answer", "softmax", MODULE, "ben").manual_score = 3.0
        book.find_comment("answer-softmax", "softmax", MODULE, "ben").manual_comment = "Nearly."
        book.db.commit()
    before = contents(root)
    assert set(by_student(list(sync(course, FileStore(reports), root))).values()) == {"unchanged"}
    assert contents(root) == before
    assert before["ben"]["grades"]["test-softmax"][1:] == (21.0, False)
    changed = read(reports, "ben")
    checks = tuple(replace(one, earned=0.0) if one.target == "softmax" else one for one in changed.checks)
    lost = sum((one.earned or 0.0) for one in changed.checks if one.target == "softmax")
    write_report(replace(changed, checks=checks, score=round((changed.score or 0.0) - lost, 6)), reports)
    assert by_student(list(sync(course, FileStore(reports), root)))["ben"] == "written"
    after = contents(root)["ben"]
    assert after["grades"]["test-softmax"][1:] == (21.0, True)  # it stays, and is marked for manual grading
    assert after["grades"]["open-answer"][1] == 3.0
    assert after["comments"]["answer-softmax"] == "Nearly."


def read(reports: Path, student: str) -> Report:
    """Return one report of a folder."""
    return report_from(json.loads((reports / MODULE / f"{student}.json").read_text()))


def write_report(report: Report, reports: Path) -> None:
    """Write a report to a results folder."""
    (reports / MODULE / f"{report.submission}.json").write_text(report_text(report))


def test_each_submission_is_one_transaction(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    commits: list[int] = []
    synced = 0

    def count(connection: object) -> None:
        del connection
        commits.append(synced)

    event.listen(Engine, "commit", count)
    try:
        for _ in sync(course, FileStore(reports), root):
            synced += 1
    finally:
        event.remove(Engine, "commit", count)
    of_submissions = [before for before in commits if commits.count(before) == 1]
    assert synced == len(STUDENTS)
    assert sorted(set(commits)) == list(range(synced))
    assert len(of_submissions) >= synced - 1  # the first also checks that the gradebook exists


def test_a_second_sync_completes_an_interrupted_one(
    copied: tuple[Path, Path], course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped between two submissions, and within one before its transaction is committed."""
    root, reports = copied
    stopped = sync(course, FileStore(reports), root)
    assert [next(stopped).student, next(stopped).student] == ["ana", "ben"]
    stopped.close()
    assert set(contents(root)) == {"ana", "ben"}

    def power_cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("grader.platforms.nbgrader.sync._GradebookWriter._write", power_cut)
        with pytest.raises(KeyboardInterrupt):
            list(sync(course, FileStore(reports), root))
    assert set(contents(root)) == {"ana", "ben"}
    outcomes = by_student(list(sync(course, FileStore(reports), root)))
    assert outcomes == {"ana": "unchanged", "ben": "unchanged", "carl": "written", "emil": "written", "gus": "written"}
    assert scores(root) == {one: read(reports, one).score for one in STUDENTS}


@pytest.mark.exhaustive
def test_a_second_sync_completes_a_killed_one(copied: tuple[Path, Path]) -> None:
    root, reports = copied
    report = read(reports, "ana")
    for number in range(60):
        write_report(replace(report, submission=f"x{number:02d}"), reports)
    command = [EXECUTABLE, "gradebook", "sync", str(reports), "--nbgrader", str(root)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    wait_until("six students of the sync", (root / "autograded" / "x05").exists, by=running, pause=0)
    running.send_signal(signal.SIGKILL)
    running.wait()
    half = contents(root)
    assert 0 < len(half) < 65
    # No submission is half written.
    assert {one["score"] for student, one in half.items() if student.startswith("x")} <= {46.0}
    assert attn("gradebook", "sync", reports, "--nbgrader", root).returncode == 0
    assert len(contents(root)) == 65
    assert {one for student, one in scores(root).items() if student.startswith("x")} == {46.0}


def test_a_report_without_a_score_is_not_a_0(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    assert autograde(root, "ana")["success"]
    write_report(replace(read(reports, "ana"), status="not_graded", score=None, message="the machine failed"), reports)
    (reports / MODULE / "ben.json").write_text("{")
    done = attn("gradebook", "sync", reports, "--nbgrader", root, "--json")
    assert done.returncode == 3
    found = {one["student"]: one for one in json.loads(done.stdout)}
    assert (found["ana"]["outcome"], found["ben"]["outcome"]) == ("not graded", "refused")
    assert "the machine failed" in done.stderr
    assert scores(root)["ana"] is None
    assert contents(root)["ana"]["grades"]["test-softmax"] == (None, None, True)
    assert not (root / "autograded" / "ana" / MODULE).exists()
    assert "ben" not in scores(root)
    assert scores(root)["carl"] == 46.0
    del course


def test_a_new_submission_does_not_get_an_old_score(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    notebook = Notebook(root / "release" / MODULE / "softmax.ipynb")
    hand_in(root, "ana", notebook.text, when="2026-08-09 18:00:00 UTC")
    done = {one.student: one for one in sync(course, FileStore(reports), root)}
    assert done["ana"].outcome == "refused"
    assert "has submitted again since the grading" in done["ana"].problem
    assert "ana" not in scores(root)
    assert done["ben"].outcome == "written"


def test_a_submission_from_outside_nbgrader_is_in_the_gradebook(copied: tuple[Path, Path], course: Course) -> None:
    """A script that came by mail has a report but no notebook. Its score counts anyway."""
    root, reports = copied
    write_report(replace(read(reports, "ana"), submission="zoe", file="softmax.py"), reports)
    stray = report_text(replace(read(reports, "ana"), submission="../../zoe"))
    (reports / MODULE / "stray.json").write_text(stray)
    found = by_student(list(sync(course, FileStore(reports), root)))
    assert (found["zoe"], found["../../zoe"]) == ("written", "refused")
    assert scores(root)["zoe"] == 46.0
    assert (
        "softmax.py was not submitted through nbgrader"
        in (root / "autograded" / "zoe" / MODULE / "softmax.ipynb").read_text()
    )


def test_points_that_changed_since_the_release_are_refused(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    with gradebook(root) as book:
        book.find_grade_cell("test-softmax", "softmax", MODULE).max_score = 25.0
        book.db.commit()
    done = list(sync(course, FileStore(reports), root))
    assert {one.outcome for one in done if one.student != "gus"} == {"refused"}
    assert "softmax was released with 25 points, but is now worth 26" in done[0].problem
    assert set(scores(root)) <= {"gus"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{reports}", "--nbgrader", "{reports}"], "is not an nbgrader course directory"),
        (["{root}", "--nbgrader", "{root}"], "there are no reports in"),
        (["{reports}"], "Missing option '--nbgrader'"),
        (["nowhere", "--nbgrader", "{root}"], "does not exist"),
    ],
)
def test_usage_mistakes_exit_2(
    graded: tuple[Path, Path], attn_here: AttnHere, arguments: list[str], words: str
) -> None:
    root, reports = graded
    given = [one.format(root=root, reports=reports) for one in arguments]
    status, out, err = attn_here("gradebook", "sync", *given)
    assert (status, out) == (2, "")
    assert words in err


def test_a_report_that_cannot_be_read_refuses_only_its_student(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    (reports / MODULE / "ben.json").write_text('{"schema": 1,')
    (reports / MODULE / "carl.json").unlink()
    (reports / MODULE / "carl.json").mkdir()
    done = list(sync(course, FileStore(reports), root))
    refused = dict.fromkeys(("ben", "carl"), "refused")
    assert by_student(done) == dict.fromkeys(STUDENTS, "written") | refused
    assert all("cannot be read" in one.problem for one in done if one.outcome == "refused")


def test_an_unfinished_grading_and_an_unreleased_module_are_refused(copied: tuple[Path, Path], course: Course) -> None:
    root, reports = copied
    shutil.copytree(reports / MODULE, reports / "02_loop_attention")
    with pytest.raises(CourseDirError, match=r"02_loop_attention has not been released .* attn release loop_attention"):
        list(sync(course, FileStore(reports), root))
    (reports / "grades.json").unlink()
    with pytest.raises(CourseDirError, match=r"the grading did not finish\. To finish it"):
        list(sync(course, FileStore(reports), root))


def test_a_damaged_file_of_marks_by_hand_is_refused(copied: tuple[Path, Path]) -> None:
    root, reports = copied
    (reports / "overrides.csv").write_text("student,module,points,comment\nana,01_softmax,many,\n")
    done = attn("gradebook", "sync", reports, "--nbgrader", root)
    assert done.returncode == 2
    assert "overrides.csv, line 2:" in done.stderr


def test_what_was_given_by_hand_is_listed_and_the_comment_is_in_the_gradebook(
    copied: tuple[Path, Path], course: Course
) -> None:
    root, reports = copied
    student = next(path.stem for path in sorted((reports / MODULE).glob("*.json")) if by_hand_can_be_given(path))
    line = f"student,module,points,comment\n{student},softmax,3.5,see me\n"
    (reports / "overrides.csv").write_text(line)
    (one,) = (one for one in sync(course, FileStore(reports), root) if one.student == student)
    assert "has 3.5 points by hand (automatic: " in one.problem
    assert "Enter them in formgrader" in one.problem
    comments = [text for text in contents(root)[student]["comments"].values() if text]
    assert any(text.startswith("see me\n\n") for text in comments)


def by_hand_can_be_given(path: Path) -> bool:
    return json.loads(path.read_text())["score"] is not None

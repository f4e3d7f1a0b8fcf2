"""Results folders: resumed, damaged, full, read-only, used by two runs, and graded again."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from grader.classroom.batch import Batch
from grader.classroom.provenance import ProvenanceReader
from grader.classroom.results import Results
from grader.classroom.store import ResultsError
from grader.classroom.store.files import FileStore
from grader.course.course import Course, read_course
from grader.grading.executor import LocalPool
from grader.submission.finder import find_submissions
from tests.classroom.conftest import HALF, RIGHT, SQUARE, Grade
from tests.cli.conftest import EXECUTABLE
from tests.conftest import write

CLASS = {"ana/tiny.py": RIGHT, "ben/tiny.py": SQUARE, "cy/tiny.py": HALF, "dee/tiny.py": "def tiny(:\n"}
SLOW = "slow = True\n\n\n"
SCORES = {"ana": 10.0, "cy": 9.0, "dee": 0.0}


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """A class of four."""
    return write(tmp_path / "class", CLASS)


def reports(out: Path) -> dict[str, Any]:
    found = {path.stem: json.loads(path.read_text()) for path in (out / "01_tiny").glob("*.json")}
    return {name: data | {"timing": None} for name, data in found.items()}


def grades(out: Path) -> dict[str, dict[str, str]]:
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def changed_grades(out: Path) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = json.loads((out / "changes.json").read_text())
    return [change for change in changes if change["before"] != change["after"]]


def with_a_mistake(tiny: Path) -> tuple[Path, str]:
    """Put a mistake into the hidden suite; return the file and its correct text."""
    hidden = tiny / "tests" / "hidden" / "test_01_tiny.py"
    good = hidden.read_text()
    hidden.write_text(good.replace("return np.add(x, x)", "return np.add(x, x) + 1"))
    return hidden, good


def killed_after_ana(tiny: Path, handed_in: Path, out: Path) -> None:
    """Leave a folder like that of a run that was killed after its first report."""
    course = read_course(tiny)
    with Results(FileStore(out)) as results:
        batch = Batch(course, find_submissions(course, [handed_in / "ana"]).handed_in, results)
        assert len(list(batch.grade(LocalPool(1, allow_unjailed=True)))) == 1
        batch.release(lambda _: True)


def test_a_second_run_with_resume_grades_nothing(grade: Grade, handed_in: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = grade(handed_in, "--to", out)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "01_tiny").iterdir()}
    again = grade(handed_in, "--to", out, "--resume")
    assert "4 of 4 are in" in again.stderr
    assert "graded 1 of" not in again.stderr
    assert (first.returncode, first.stdout) == (again.returncode, again.stdout)
    assert {path.name: path.stat().st_mtime_ns for path in (out / "01_tiny").iterdir()} == before
    assert {name: float(row["final"]) for name, row in grades(out).items()} == {"ben": grades_of_ben(out), **SCORES}


def grades_of_ben(out: Path) -> float:
    return float(reports(out)["ben"]["score"])


def test_resume_grades_only_what_changed(grade: Grade, handed_in: Path, tmp_path: Path, tiny: Path) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    write(handed_in, {"ben/tiny.py": RIGHT, "eve/tiny.py": RIGHT})
    again = grade(handed_in, "--to", out, "--resume")
    assert "3 of 5 are in" in again.stderr
    assert reports(out)["ben"]["score"] == 10.0
    assert "ben 01_tiny: " in again.stdout
    assert "the submission changed" in again.stdout
    checks = tiny / "modules" / "01_tiny" / "checks.py"
    checks.write_text(checks.read_text() + "# a remark\n")
    assert "0 of 5 are in" in grade(handed_in, "--to", out, "--resume").stderr


@pytest.mark.exhaustive
def test_a_corrected_test_changes_grades_and_the_changes_are_explained(
    grade: Grade, handed_in: Path, tmp_path: Path, tiny: Path
) -> None:
    out = tmp_path / "out"
    hidden, good = with_a_mistake(tiny)
    wrong = grade(handed_in, "--to", out)
    assert "Changed since" not in wrong.stdout
    assert reports(out)["ana"]["score"] == 6.0
    hidden.write_text(good)
    asked = grade(handed_in, "--to", out)
    assert asked.returncode == 2
    assert "  ana 01_tiny: 6 → 10\n      the checks of the module changed" in asked.stderr
    assert "2 marks would change, although the work did not:" in asked.stderr
    assert (reports(out)["ana"]["score"], grades(out)["ana"]["final"]) == (6.0, "6")
    corrected = grade(handed_in, "--to", out, "--yes")
    lines = corrected.stdout.splitlines()
    assert "Grades that changed since the last run: 2." in lines
    at = lines.index("  ana 01_tiny: 6 → 10")
    assert lines[at + 1].strip() == "the checks of the module changed"
    assert lines[at + 2].strip() == "tiny_agrees_with_the_oracle: failed → passed (+4)"
    assert "  cy 01_tiny: 5 → 9" in lines
    changes = changed_grades(out)
    assert [(one["submission"], one["before"], one["after"]) for one in changes] == [("ana", 6, 10), ("cy", 5, 9)]
    assert json.loads((out / "earlier" / "01_tiny" / "ana.json").read_text())["score"] == 6.0
    assert grades(out)["ana"]["final"] == "10"
    assert "Changed since" not in grade(handed_in, "--to", out).stdout  # the next round changes nothing


@pytest.mark.exhaustive
def test_a_killed_and_resumed_regrade_reports_all_changes(
    grade: Grade, handed_in: Path, tmp_path: Path, tiny: Path
) -> None:
    out = tmp_path / "out"
    hidden, good = with_a_mistake(tiny)
    grade(handed_in, "--to", out)
    hidden.write_text(good)
    killed_after_ana(tiny, handed_in, out)
    done = grade(handed_in, "--to", out, "--resume", "--yes")
    assert "1 of 4 are in" in done.stderr
    assert {one["submission"] for one in changed_grades(out)} == {"ana", "cy"}


@pytest.mark.exhaustive
def test_a_report_changed_by_hand_is_graded_again_and_kept(grade: Grade, handed_in: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    path = out / "01_tiny" / "ben.json"
    true = reports(out)["ben"]["score"]
    path.write_text(path.read_text().replace(f'"score": {true}', '"score": 10.0', 1))
    done = grade(handed_in, "--to", out, "--resume")
    assert reports(out)["ben"]["score"] == true
    assert f"ben 01_tiny: 10 → {true:g}" in done.stdout
    assert "was edited or damaged after it was written" in " ".join(done.stdout.split())
    assert json.loads((out / "earlier" / "01_tiny" / "ben.json").read_text())["score"] == 10.0


def settled(course: Course, handed_in: Path, out: Path) -> dict[str, float | None]:
    """Resume in this process; return the scores of the reports that are kept."""
    with Results(FileStore(out)) as results:
        batch = Batch(course, find_submissions(course, [handed_in]).handed_in, results)
        batch.keep()
        return {one.summary.submission: one.summary.score for one in batch._noted}


@pytest.mark.exhaustive
def test_a_journal_cut_anywhere_keeps_no_wrong_report(
    grade: Grade, handed_in: Path, tmp_path: Path, tiny: Path
) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    truth = {name: data["score"] for name, data in reports(out).items()}
    course = read_course(tiny)
    data = (out / "journal.jsonl").read_bytes()
    counts = set()
    for length in [*range(0, len(data), 97), len(data)]:
        (out / "journal.jsonl").write_bytes(data[:length])
        kept = settled(course, handed_in, out)
        counts.add(len(kept))
        assert kept.items() <= truth.items()
    assert counts == {0, 1, 2, 3, 4}
    (out / "journal.jsonl").write_bytes(data[: len(data) // 2] + b"\0garbage{]\n" + data[len(data) // 2 :])
    assert settled(course, handed_in, out).items() <= truth.items()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "halved": lambda data: data[: len(data) // 2],
    "emptied": lambda data: data[:0],
    "zeroed": lambda data: b"\0" * len(data),
}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, id=name, marks=pytest.mark.exhaustive if name != "halved" else ())
        for name, damage in DAMAGES.items()
    ],
)
def test_a_damaged_report_is_graded_again(
    grade: Grade, handed_in: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    before = reports(out)
    path = out / "01_tiny" / "cy.json"
    path.write_bytes(damage(path.read_bytes()))
    done = grade(handed_in, "--to", out, "--resume")
    assert "3 of 4 are in" in done.stderr
    assert reports(out) == before


@pytest.mark.exhaustive
def test_a_damaged_journal_is_reported_and_repaired(grade: Grade, handed_in: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    before = (out / "grades.csv").read_text()
    journal = out / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    done = grade(handed_in, "--to", out, "--resume")
    assert "1 line(s) of" in done.stderr
    assert (out / "grades.csv").read_text() == before
    assert "cut short" not in grade(handed_in, "--to", out, "--resume").stderr


def test_reports_of_an_unfinished_run_are_reported_but_not_listed(
    grade: Grade, handed_in: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    lines = (out / "journal.jsonl").read_text().splitlines()
    unmarked = [json.dumps(json.loads(line) | {"mark": None}) if '"ben"' in line else line for line in lines]
    (out / "journal.jsonl").write_text("\n".join(unmarked) + "\n")
    write(tmp_path / "more", {"zoe/tiny.py": RIGHT})
    done = grade(tmp_path / "more", "--to", out)
    assert "01_tiny/ben.json" in done.stderr
    assert list(grades(out)) == ["ana", "cy", "dee", "zoe"]  # students of earlier runs stay in the list


def in_a_view(view: list[str], tiny: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `attn grade` with a part of the file system that is small or read-only."""
    if shutil.which("bwrap") is None:
        pytest.fail("bwrap is needed") if os.environ.get("CI") else pytest.skip("bwrap is needed")
    command = ["bwrap", "--dev-bind", "/", "/", *view, EXECUTABLE, "grade", *map(str, arguments), "--allow-unjailed"]
    return subprocess.run(command, cwd=tiny, capture_output=True, text=True, check=False)


def test_a_full_disk_is_reported_and_leaves_no_partial_results(tiny: Path, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {f"s{i:02}/tiny.py": RIGHT for i in range(40)})
    out = tmp_path / "out"
    out.mkdir()
    copy = tmp_path / "copy"
    keep = ["sh", "-c", 'status=0; "$@" || status=$?; cp -a "$OUT" "$COPY"; exit $status', "sh"]
    view = ["--setenv", "OUT", str(out), "--setenv", "COPY", str(copy), "--size", "65536", "--tmpfs", str(out), *keep]
    done = in_a_view(view, tiny, handed_in, "--to", out)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert "go on with --resume" in done.stderr
    assert done.stdout == ""
    kept = reports(copy)
    assert 0 < len(kept) < 40
    assert all(data["score"] == 10.0 for data in kept.values())
    shutil.copytree(copy, out, dirs_exist_ok=True)
    resumed = subprocess.run(
        [EXECUTABLE, "grade", str(handed_in), "--to", str(out), "--resume", "--allow-unjailed"],
        cwd=tiny, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    assert len(reports(out)) == 40


def test_a_read_only_folder_is_reported_before_grading(tiny: Path, handed_in: Path) -> None:
    out = handed_in.parent / "out"
    out.mkdir()
    done = in_a_view(["--ro-bind", str(out), str(out)], tiny, handed_in, "--to", out)
    assert done.returncode == 2
    assert "cannot write reports to" in done.stderr
    assert "graded" not in done.stderr


@pytest.mark.exhaustive
def test_a_failed_run_leaves_the_earlier_class_list(grade: Grade, handed_in: Path, tmp_path: Path, tiny: Path) -> None:
    out = tmp_path / "out"
    grade(handed_in, "--to", out)
    before = (out / "grades.csv").read_text()
    hidden = tiny / "tests" / "hidden" / "test_01_tiny.py"
    hidden.write_text("def broken(:\n")
    for _ in range(2):
        assert grade(handed_in, "--to", out).returncode == 3
    assert (out / "grades.csv").read_text() == before


@pytest.mark.exhaustive
def test_a_restarted_regrade_without_resume_reports_all_changes(
    grade: Grade, handed_in: Path, tmp_path: Path, tiny: Path
) -> None:
    out = tmp_path / "out"
    hidden, good = with_a_mistake(tiny)
    grade(handed_in, "--to", out)
    hidden.write_text(good)
    killed_after_ana(tiny, handed_in, out)
    assert not (out / "grades.csv").exists()
    grade(handed_in, "--to", out, "--yes")
    assert {one["submission"] for one in changed_grades(out)} == {"ana", "cy"}
    grade(handed_in, "--to", out, "--resume")
    assert changed_grades(out) == []  # reported only once


def test_a_removed_folder_is_an_error(tiny: Path, handed_in: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    course = read_course(tiny)
    with Results(FileStore(out)) as results:
        batch = Batch(course, find_submissions(course, [handed_in]).handed_in, results)
        list(batch.grade(LocalPool(2, allow_unjailed=True)))
        shutil.rmtree(out)
        with pytest.raises(ResultsError, match="was removed while the class was graded"):
            batch.settle()


@pytest.mark.exhaustive
def test_a_suite_that_ends_every_process_is_reported_without_a_traceback(
    grade: Grade, handed_in: Path, tiny: Path
) -> None:
    hidden = tiny / "tests" / "hidden" / "test_01_tiny.py"
    hidden.write_text("import os\nos._exit(9)\n" + hidden.read_text())
    done = grade(handed_in)
    assert done.returncode == 3
    assert "a grading process ended" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_a_results_folder_is_left_alone(tmp_path: Path) -> None:
    for name in ("grades.csv", "earlier/mine.txt"):
        folder = write(tmp_path / name.replace("/", "_"), {name: "mine"})
        with pytest.raises(ResultsError, match="it is not a results folder"):
            Results(FileStore(folder))
        assert (folder / name).read_text() == "mine"


def test_two_runs_cannot_write_to_one_folder(tmp_path: Path) -> None:
    with Results(FileStore(tmp_path / "out")), pytest.raises(ResultsError, match="another attn grade is writing"):
        Results(FileStore(tmp_path / "out"))
    with Results(FileStore(tmp_path / "out")):
        pass


def stop_at_slow(root: Path) -> Path:
    """Let the hidden suite stop at each slow submission until a file is there. Return the file."""
    (suite,) = (root / "tests" / "hidden").glob("*.py")
    until = root / "until"
    wait = f"import pathlib, time\n        while not pathlib.Path({str(until)!r}).exists(): time.sleep(0.02)\n"
    first = "    x = rng.normal(size=(3, 4))\n"
    assert first in suite.read_text()
    slow = f"    if {SLOW.encode()!r} in student._session.program.files['tiny']['cells'][0]:\n        {wait}"
    suite.write_text(suite.read_text().replace(first, first + slow))
    return until


@pytest.mark.exhaustive
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.exhaustive), 2], ids=["started", "forked"])
def test_killed_grading_processes_lose_no_grade(tiny: Path, tmp_path: Path, jobs: int) -> None:
    """They are killed while they grade a submission, and it is graded again. If there are two, they are forked."""
    killed_now = stop_at_slow(tiny)
    handed_in = write(tmp_path / "class", {f"s{i}/tiny.py": RIGHT for i in range(6)})
    for slow in ("s3", "s4")[:jobs]:
        write(handed_in, {f"{slow}/tiny.py": SLOW + RIGHT})
    command = [EXECUTABLE, "grade", str(handed_in), "-j", str(jobs), "--to", str(tmp_path / "out"), "--allow-unjailed"]
    with subprocess.Popen(command, cwd=tiny, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        while "graded 3 of 6" not in running.stderr.readline():
            assert running.poll() is None
        killed = [one for one in psutil.Process(running.pid).children(recursive=jobs > 1) if _is_grading(one)]
        for process in reversed(killed):  # the template last: it may have forked once more
            process.send_signal(signal.SIGKILL)
        killed_now.touch()
        output, _ = running.communicate()
    assert running.returncode == 0, output
    assert len(killed) == (1 if jobs == 1 else 3)  # the template, too
    assert len(reports(tmp_path / "out")) == 6


@pytest.mark.exhaustive
def test_a_forked_grading_process_that_is_killed_alone_is_replaced(tiny: Path, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {f"s{i}/tiny.py": RIGHT for i in range(8)})
    write(handed_in, {f"s{i}/tiny.py": SLOW + RIGHT for i in (4, 5)})
    killed_now = stop_at_slow(tiny)
    command = [EXECUTABLE, "grade", str(handed_in), "-j", "2", "--to", str(tmp_path / "out"), "--allow-unjailed"]
    with subprocess.Popen(command, cwd=tiny, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        while "graded 4 of 8" not in running.stderr.readline():
            assert running.poll() is None
        (template,) = [one for one in psutil.Process(running.pid).children() if _is_grading(one)]
        forked = [one for one in template.children() if _is_grading(one)]
        forked[0].send_signal(signal.SIGKILL)
        killed_now.touch()
        output, _ = running.communicate()
    assert running.returncode == 0, output
    assert len(forked) == 2
    assert len(reports(tmp_path / "out")) == 8


def _is_grading(process: psutil.Process) -> bool:
    return bool({"grader.grading.process", "grader.grading.template"} & set(process.cmdline()))


@pytest.mark.exhaustive
def test_a_submission_that_crashes_the_grader_is_not_graded_and_not_a_zero(
    grade: Grade, tiny: Path, tmp_path: Path
) -> None:
    hidden = tiny / "tests" / "hidden" / "test_01_tiny.py"
    first = "    x = rng.normal(size=(3, 4))\n"
    deadly = "    if float(student.tiny(np.array([7.0]))[0]) == 49.0:\n        import os\n        os._exit(9)\n"
    hidden.write_text(hidden.read_text().replace(first, first + deadly))
    out = tmp_path / "out"
    write(tmp_path / "class", {"ana/tiny.py": RIGHT, "ben/tiny.py": SQUARE, "cy/tiny.py": RIGHT})
    done = grade(tmp_path / "class", "--to", out)
    assert done.returncode == 3
    assert "2 with full marks, 0 with less, 1 not graded" in done.stdout
    assert (reports(out)["ben"]["status"], reports(out)["ben"]["score"]) == ("not_graded", None)
    assert grades(out)["ben"]["final"] == ""
    started = time.time_ns()
    grade(tmp_path / "class", "--to", out, "--resume")
    redone = [path.stem for path in (out / "01_tiny").iterdir() if path.stat().st_mtime_ns > started]
    assert redone == ["ben"]  # only a submission that could not be graded is tried again


def test_probes_that_are_not_python_stop_no_class(course_copy: Course) -> None:
    """Grading reports what is wrong with them; the other modules of the class are graded."""
    module = course_copy.module("softmax")
    before = ProvenanceReader(course_copy, [module.name]).of_hash(module.name, "")
    module.probes.write_bytes(b"def (\0\xff")
    assert ProvenanceReader(course_copy, [module.name]).of_hash(module.name, "").checks != before.checks

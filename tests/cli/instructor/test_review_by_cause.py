"""`attn review --cause`: one decision about the same doubt in the code of many students, and one undo."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import attn as command
from grader.classroom.decisions import read_decisions
from grader.classroom.journal import ReportKey
from grader.classroom.results import Results
from grader.classroom.store.files import FileStore
from grader.classroom.store.store import read_marks
from grader.core.report import CostResult, Report, ReviewItem
from tests.classroom.store.made import MODULE, mark, provenance, report, settle
from tests.cli.conftest import Attn
from tests.conftest import ROOT, UNDECIDED, needs_jail, write

SVD, QR = (
    "your code calls numpy.linalg.svd, whose cost is unknown",
    "your code calls numpy.linalg.qr, whose cost is unknown",
)
WHY = {"ana": SVD, "ben": SVD, "cy": SVD, "dee": SVD, "eve": QR}
WATCHED = "On the simulated GPU, line {}: a thread"


def doubtful(student: str, reason: str) -> Report:
    """Return a report whose one cost is undecided, in a line of its own."""
    line = 3 + len(student)
    cost = CostResult("softmax", "softmax", "work", "n", "n", "inconclusive", 2.0, 2.0, line, reason)
    item = ReviewItem("softmax", "cost", "softmax.py", line, reason, 2.0, parts=(cost.name,), code=f"svd({student})")
    return replace(report(student, 8.0), score=10.0, max_score=12.0, costs=(cost,), reviews=(item,))


def made(folder: Path, why: dict[str, str]) -> Path:
    """Write a class without grading it."""
    keys = [ReportKey(MODULE, student) for student in why]
    with Results(FileStore(folder)) as results:
        for key in keys:
            results.write(key, doubtful(key.student, why[key.student]), provenance(f"the code of {key.student}"))
        for key in keys:
            results.mark(key, replace(mark(key.student, 10.0), max_score=12.0))
        settle(results, keys, {key.student: 10.0 for key in keys})
    return folder


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four students with the same doubtful call, and one with another."""
    monkeypatch.chdir(ROOT)
    return made(tmp_path / "reports", WHY)


def review(reports: Path, *arguments: str) -> Result:
    """Run `attn review` in this process."""
    return CliRunner().invoke(command, ["review", str(reports), *arguments])


def cause_of(reports: Path, student: str) -> str:
    """Return the id of the cause of a student's item."""
    (item,) = json.loads(review(reports, "--json", "--all", "-s", student).output)
    return str(item["cause"])


def scores(reports: Path) -> dict[str, float | None]:
    return {one.id: one.score for one in read_marks(FileStore(reports))}


def test_a_doubt_that_several_share_is_listed_once_with_one_command_for_all(reports: Path) -> None:
    done = review(reports)
    assert done.exit_code == 1
    assert f"4 students · {MODULE} · softmax: 2 points each" in done.output
    assert "ana, ben, cy, dee" in done.output
    assert done.output.count(SVD[:40]) == 1
    assert f"--cause {cause_of(reports, 'ana')} --accept" in done.output
    assert "--student ana" not in done.output
    assert "--student eve" in done.output, "what is hers alone is hers to decide"
    assert "10 points in 5 reports are not decided" in done.output


def test_each_student_and_line_can_be_read_before_deciding(reports: Path) -> None:
    done = review(reports, "--cause", cause_of(reports, "ana"))
    assert done.exit_code == 1
    for student in ("ana", "ben", "cy", "dee"):
        assert f"  {student} · softmax, 2 · open\n    softmax.py:{3 + len(student)}  svd({student})" in done.output
    assert "eve" not in done.output


def test_one_decision_counts_for_all_and_one_undo_takes_it_back(reports: Path) -> None:
    cause = cause_of(reports, "ana")
    before = {path: path.read_bytes() for path in (reports / MODULE).iterdir()}
    done = review(reports, "--cause", cause, "--reject", "--comment", "too much work")
    assert "rejected for 4 students: softmax, 2 points" in done.output
    assert "10 → 8 of 12: 4 students" in done.output
    assert scores(reports) == {"ana": 8.0, "ben": 8.0, "cy": 8.0, "dee": 8.0, "eve": 10.0}
    assert "To take this back" in done.output
    assert review(reports, "--cause", cause).exit_code == 0
    review(reports, "--cause", cause, "--undo")
    assert set(scores(reports).values()) == {10.0}
    assert {path: path.read_bytes() for path in (reports / MODULE).iterdir()} == before


def test_what_was_decided_about_one_student_stays(reports: Path) -> None:
    cause = cause_of(reports, "ana")
    review(reports, "-s", "ben", "--reject", "--comment", "a loop of svd")
    found = [replace(one, when="2026-01-01T00:00:00+00:00") for one in read_decisions(reports).records]
    text = (reports / "decisions.json").read_text().replace(read_decisions(reports).records[0].when, found[0].when)
    (reports / "decisions.json").write_text(text)  # the same second would be the same command
    assert "accepted for 3 students" in review(reports, "--cause", cause, "--accept").output
    review(reports, "--cause", cause, "--undo")
    (left,) = read_decisions(reports).records
    assert (left.student, left.decision) == ("ben", "rejected")
    assert scores(reports)["ben"] == 8.0


def test_the_line_in_a_students_file_is_no_other_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    reports = made(tmp_path / "reports", {name: WATCHED.format(len(name)) for name in ("a", "ab", "abc")})
    assert len({cause_of(reports, name) for name in ("a", "ab", "abc")}) == 1
    assert "3 students" in review(reports).output
    assert "accepted for 3 students" not in review(reports, "-s", "ab", "--accept").output
    assert "3 students" not in review(reports).output, "two are left, and two are shown one by one"


def test_no_name_is_shown_with_anonymous(reports: Path) -> None:
    cause = cause_of(reports, "ana")
    for arguments in ([], ["--cause", cause]):
        done = review(reports, "--anonymous", *arguments)
        assert f"--cause {cause} --anonymous --accept" in done.output
        assert re.search(r"\b(ana|ben|cy|dee|eve)\b", done.output) is None
        assert "student-" in done.output


def test_an_unknown_cause_and_a_decision_without_a_choice_are_refused(reports: Path) -> None:
    done = review(reports, "--cause", "ffffff", "--accept")
    assert (done.exit_code, "there is no cause 'ffffff' here" in done.output) == (2, True)
    assert "add --student or --cause" in review(reports, "--accept").output
    assert "nothing of this cause is decided" in review(reports, "--cause", cause_of(reports, "ana"), "--undo").output


@pytest.mark.exhaustive
def test_many_graded_students_with_one_doubtful_call_need_one_decision(attn: Attn, tmp_path: Path) -> None:
    needs_jail()
    students = [f"student{number}" for number in range(12)]
    write(tmp_path / "class", {f"{who}/softmax.py": f"{UNDECIDED}# {who}\n" for who in students})
    attn("grade", tmp_path / "class", "--to", tmp_path / "reports")
    listed = attn("review", tmp_path / "reports")
    assert len(listed.stdout.splitlines()) < 24
    (cause,) = set(re.findall(r"--cause (\w+)", listed.stdout))
    decided = attn("review", tmp_path / "reports", "--cause", cause, "--reject", "--comment", "why")
    assert "26 → 23 of 46: 12 students" in decided.stdout
    assert attn("review", tmp_path / "reports").returncode == 0

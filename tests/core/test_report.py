"""Reports: their JSON keys, their file, and the text in them."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from cli.ui.report_screens import class_table, report_screen
from grader.classroom.batch import BatchResult, count_class
from grader.classroom.journal import ReportKey
from grader.classroom.provenance import Provenance
from grader.classroom.results import Results
from grader.classroom.store.files import FileStore
from grader.core.atomic_file import file_name, write_atomically
from grader.core.report import TOO_LITTLE, CheckResult, Report, cost_word, report_from, report_text, without_word
from grader.core.safe_text import one_line, plain_name, printable
from grader.core.summary import summary_of
from tests.conftest import GradeSource, tier_here

SCHEMA_1 = {
    "": "schema module submission file status score max_score message checks costs forbidden reviews needs_review "
    "endings diagnoses sandbox environment timing",
    "checks": "name suite target points earned outcome property message detail undecided",
    "costs": "target function meter law measured verdict points earned line message",
    "forbidden": "target call line why",
    "reviews": "target what file line reason points decision comment parts code",
    "endings": "kind during",
    "environment": "python numpy torch attnlab",
    "timing": "wall_s cpu_s",
}
EXITING = "import os\ndef softmax(x, axis=-1):\n    os._exit(3)\n"


@pytest.fixture(scope="module")
def report() -> Report:
    return Report(
        module="01_softmax",
        submission="ana",
        file="softmax.py",
        status="graded",
        score=17.0,
        max_score=20.0,
        message="",
        checks=(),
        costs=(),
        forbidden=(),
        endings=(),
        diagnoses=(),
        sandbox="none",
        environment={"python": "3.11"},
        timing={"wall_s": 0.1, "cpu_s": 0.1},
    )


def test_json_has_the_keys_of_schema_1(grade_source: GradeSource) -> None:
    data = json.loads(report_text(grade_source(EXITING)))
    assert list(data) == SCHEMA_1[""].split()
    assert data["schema"] == 1
    assert list(data["checks"][0]) == SCHEMA_1["checks"].split()
    assert list(data["costs"][0]) == SCHEMA_1["costs"].split()
    assert list(data["endings"][0]) == SCHEMA_1["endings"].split()
    assert data["endings"][0] == {"kind": "exit", "during": "softmax_of_the_shared_example"}
    assert list(data["environment"]) == SCHEMA_1["environment"].split()
    assert list(data["timing"]) == SCHEMA_1["timing"].split()


def test_undecided_check_asks_for_review_and_old_reports_have_none(report: Report) -> None:
    check = CheckResult("it", "hidden", "f", 2.0, 2.0, "passed", "it holds", "", "", undecided="a thread runs")
    assert dataclasses.replace(report, checks=(check,)).needs_review
    data = dataclasses.replace(report, checks=(dataclasses.replace(check, undecided=""),)).as_json()
    assert data["needs_review"] is False
    del data["checks"][0]["undecided"]
    assert report_from(data).checks[0].undecided == ""


def test_score_is_the_sum_of_earned_points(grade_source: GradeSource) -> None:
    report = grade_source("REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88\n")
    assert report.score == sum(check.earned or 0.0 for check in report.checks) == 0.5
    costs = sum(cost.points for cost in report.costs)
    assert report.max_score == sum(check.points for check in report.checks) + costs


NAMES = [
    "ana",
    "../../etc/passwd",
    "/abs",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "nul\0",
    "x" * 5000,
    "ünïcode",
    "=cmd",
    ".hidden",
    "a ",
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:10])
def test_report_stays_in_its_folder_for_any_student_name(report: Report, tmp_path: Path, name: str) -> None:
    named = dataclasses.replace(report, submission=plain_name(name))
    key, basis = ReportKey("01_softmax", named.submission), Provenance("", "", "", {})
    with Results(FileStore(tmp_path / "out")) as results:
        results.write(key, named, basis)
    (path,) = (tmp_path / "out" / "01_softmax").iterdir()
    assert {p.parent for p in tmp_path.rglob("*") if p.is_file()} == {path.parent, tmp_path / "out"}
    assert json.loads(path.read_text())["submission"] == named.submission


def test_different_students_get_different_files() -> None:
    names = [*NAMES, "x" * 5001, "%2e", ".%2e", "a%2fb", "0xdeadbeef", "0xcafebabe", "a\nb", "a\\nb", "NUL", "nul.txt"]
    shown = [plain_name(name) for name in names]
    assert len(set(shown)) == len(names)
    assert len({file_name(name) for name in shown}) == len(names)
    assert not any(file_name(name).lower() in ("nul", "con") for name in shown)


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write_atomically(path, "old")

    def fail(fd: int) -> None:
        raise OSError(f"disk full, descriptor {fd}")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 文", "plain é 文"),
        ("\x1b[31mred\x07", "\\u{1b}[31mred\\u{7}"),
        ("right\u202eto left", "right\\u{202e}to left"),
        ("\ud800", "\\u{d800}"),
        ("<Thing object at 0x7f3a2b1c9d10>", "<Thing object at 0x…>"),
        ("colour 0xff00", "colour 0xff00"),
        ("two\nlines\tkept", "two\nlines\tkept"),
        ("one\u2028two", "one\\u{2028}two"),
        ("line\r\noverwritten", "line\\u{d}\noverwritten"),
    ],
)
def test_printable_text_is_safe_for_terminals_and_encodings(text: str, shown: str) -> None:
    assert printable(text) == shown
    printable(text).encode()


def test_long_text_is_cut_with_a_note() -> None:
    assert printable("x" * 5_000).endswith("… (1000 more characters)")
    assert one_line("a\nb") == "a\\nb"


class TestScreens:
    """The plain-text screens: every status has words."""

    def test_full_report(self, grade_source: GradeSource) -> None:
        screen = report_screen(grade_source(EXITING))
        assert "ana · 01_softmax · softmax.py" in screen
        assert "FAILED" in screen
        assert "softmax ended the Python process" in screen
        assert f"score 0 / 46 (graded, sandbox: {tier_here()})" in screen

    def test_submission_that_does_not_import(self, grade_source: GradeSource) -> None:
        screen = report_screen(grade_source("import nothing_like_it\n"))
        assert "No module named 'nothing_like_it'" in screen
        assert "not run" not in screen  # the reason appears once, not for every check

    def test_grader_fault_has_no_score(self, report: Report) -> None:
        fault = dataclasses.replace(report, status="grader_fault", score=None)
        summaries = (summary_of(fault), summary_of(report))
        table = "\n".join(class_table(BatchResult(summaries, count_class(summaries), (), (), ())))
        assert "– / 20  grader fault" in table
        assert table.endswith("2 submissions: 0 with full marks, 1 with less, 1 not graded (sandbox: none)")


def test_missing_work_has_one_word_on_every_screen() -> None:
    message = f"{TOO_LITTLE}expected 2·n, found n"
    assert cost_word("fail", "n", message) == cost_word("fail", "n", "", too_little=True) == "TOO LITTLE"
    assert cost_word("fail", "n", "expected n, found n²") == "TOO MUCH"
    assert without_word(message) == "expected 2·n, found n"

"""The files in a results folder keep their format: existing files are read and written again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.journal import ReportKey, read_journal
from grader.classroom.marks import Mark
from grader.classroom.module_rules import SavedRules
from grader.classroom.rules import Rules, RulesError, read_rules
from grader.classroom.store.files import FileStore
from grader.core.json_record import from_json, to_json
from grader.core.report import report_from, report_text

MARK: dict[str, Any] = {
    "id": "7",
    "name": 'Ben "王" Ü',
    "section": "",
    "submission": "ben",
    "module": "01_softmax",
    "status": "graded",
    "score": 46,
    "max_score": 46.0,
    "handed_in": "2026-10-01T12:00:00+00:00",
    "due": "",
    "late_s": 0.0,
    "penalty": 0.0,
    "final": None,
    "attempt": "try1",
    "attempts": 2,
    "needs_review": False,
    "provisional": True,
    "time_known": True,
    "marked_late": False,
    "override": 40.5,
    "comment": "by hand",
}
ENVIRONMENT = '{"python": "3.12.3", "numpy": "2.4.6", "gpu": null}'
BASIS = f'{{"submission": "40", "checks": "12", "grader": "68", "environment": {ENVIRONMENT}}}'
KEY = '"module": "01_softmax", "student": "ben", "attempt": ""'
LINES = [
    f'{{{KEY}, "report": "39", "basis": {BASIS}, "was": null, "mark": null}}\n',
    f'{{{KEY}, "report": "39", "basis": {BASIS}, "was": null, "mark": {json.dumps(MARK)}}}\n',
    f'{{{KEY}, "report": "39", "basis": {BASIS}, "was": {{"basis": {BASIS}, "by_hand": false}}, "mark": null}}\n',
    f'{{{KEY}, "report": "39", "basis": {BASIS}, "was": {{"basis": null, "by_hand": true}}, "mark": null}}\n',
]
RULES = """\
{
 "roster": "/home/x/class.csv",
 "policy": "best",
 "due": [
  "2026-10-01",
  "masks=2026-10-02"
 ],
 "extensions": null,
 "times": null,
 "late_penalty": "10%/day",
 "grace": null,
 "undecided": "withhold",
 "extended": [
  {
   "student": "ana",
   "module": "",
   "until": "2026-10-08"
  }
 ],
 "section": null,
 "name": "Attention",
 "map": null,
 "file_times": false
}
"""
REPORT: dict[str, Any] = {
    "schema": 1,
    "module": "01_softmax",
    "submission": "ana",
    "file": "softmax.py",
    "status": "graded",
    "score": 1.0,
    "max_score": 4,
    "message": "",
    "checks": [
        {
            "name": "softmax_of_the_shared_example",
            "suite": "visible",
            "target": "softmax",
            "points": 2,
            "earned": None,
            "outcome": "grader_fault",
            "property": "it gives the weights of the lesson",
            "message": "…",
            "detail": "",
            "undecided": "",
        }
    ],
    "costs": [
        {
            "target": "softmax",
            "function": "softmax",
            "meter": "work",
            "law": "m·n",
            "measured": "5·m·n",
            "verdict": "inconclusive",
            "points": 1.0,
            "earned": 1.0,
            "line": None,
            "message": "",
        }
    ],
    "forbidden": [{"target": "softmax", "call": "scipy.special.softmax", "line": 3, "why": "write it yourself"}],
    "reviews": [
        {
            "target": "softmax",
            "what": "cost",
            "file": "softmax.py",
            "line": 6,
            "reason": "its cost is unknown",
            "points": 1.0,
            "decision": "open",
            "comment": "",
            "parts": ["softmax work"],
            "code": "np.linalg.svd(x)",
        }
    ],
    "needs_review": True,
    "endings": [{"kind": "exit", "during": "softmax_of_the_shared_example"}],
    "diagnoses": [{"target": "softmax", "misconception": None, "message": "it ends the process", "line": 7}],
    "sandbox": "strict",
    "environment": {"python": "3.12.3", "torch": None},
    "timing": {"wall_s": 0.1, "cpu_s": None},
}


@pytest.mark.parametrize("line", LINES)
def test_a_journal_line_is_written_again_as_it_was(tmp_path: Path, line: str) -> None:
    (tmp_path / "journal.jsonl").write_text(line)
    (entry,) = read_journal(tmp_path / "journal.jsonl")
    assert entry is not None
    assert entry.key == ReportKey("01_softmax", "ben")
    assert entry.line() == line


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"attempt": ""', '"attempt": null'),
        (', "attempt": ""', ""),
        ('"report": "39"', '"report": 39'),
        (f'"basis": {BASIS}', '"basis": null'),
        ('"checks": "12"', '"checks": 12'),
        ('"gpu": null', '"gpu": 1'),
        (', "was": null', ""),
        ('"was": null', '"was": {"basis": null}'),
        ('"score": 46', '"score": "46"'),
        ('"needs_review": false', '"needs_review": 0'),
        (', "needs_review": false', ""),
        ('"provisional": true', '"provisional": 1'),
    ],
)
def test_a_journal_line_with_a_damaged_field_is_refused(tmp_path: Path, old: str, new: str) -> None:
    assert old in LINES[1]
    (tmp_path / "journal.jsonl").write_text(LINES[1].replace(old, new))
    assert list(read_journal(tmp_path / "journal.jsonl")) == [None]


def test_a_mark_of_grades_json_is_written_again_as_it_was() -> None:
    assert json.dumps(to_json(from_json(Mark, MARK))) == json.dumps(MARK)


def test_rules_are_written_again_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(RULES)
    rules = read_rules(FileStore(tmp_path))
    assert rules.due == ("2026-10-01", "masks=2026-10-02")
    assert SavedRules(rules).text == RULES


@pytest.mark.parametrize("text", ["", "[]", RULES[:50], RULES.replace('"best"', '"worst"')])
def test_rules_that_cannot_be_read_are_an_error(tmp_path: Path, text: str) -> None:
    assert read_rules(FileStore(tmp_path)) == Rules()
    (tmp_path / "rules.json").write_text(text)
    with pytest.raises(RulesError, match=r"cannot be read: .* restore it from a backup"):
        read_rules(FileStore(tmp_path))


def test_a_report_is_written_again_as_it_was() -> None:
    text = json.dumps(REPORT, indent=1, ensure_ascii=False) + "\n"
    assert report_text(report_from(json.loads(text))) == text


def test_a_report_without_reviews_can_still_be_read() -> None:
    report = report_from({key: value for key, value in REPORT.items() if key != "reviews"})
    assert (report.reviews, report.needs_review, report.undecided_points) == ((), True, 1.0)


def test_files_from_before_there_were_reviews_can_still_be_read(tmp_path: Path) -> None:
    assert not from_json(Mark, {key: value for key, value in MARK.items() if key != "provisional"}).provisional
    (tmp_path / "rules.json").write_text(RULES[: RULES.index(',\n "undecided"')] + "\n}\n")
    assert read_rules(FileStore(tmp_path)) == Rules(
        "/home/x/class.csv", "best", ("2026-10-01", "masks=2026-10-02"), None, None, "10%/day"
    )


@pytest.mark.parametrize(
    "change", [{"schema": 2}, {"score": "1"}, {"status": "fine"}, {"checks": [{"name": "x"}]}, {"timing": None}]
)
def test_a_report_that_does_not_fit_the_schema_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"schema 1|Report\."):
        report_from(REPORT | change)

"""The file of decisions: kept for the code they are about, and never ignored when damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.decisions import (
    FILE,
    DecisionRecord,
    Decisions,
    DecisionsError,
    read_decisions,
    write_decisions,
)
from grader.classroom.lateness import read_penalty
from grader.classroom.marks import Mark, rescored
from grader.classroom.results import Results
from grader.classroom.store.files import FileStore
from grader.core.report import ReviewItem
from tests.classroom.test_decided_report import REPORT

ITEM = ReviewItem("softmax", "cost", "softmax.py", 6, "calls svd", 3.0, parts=("softmax work",))
RECORD = DecisionRecord("ana", "01_softmax", "softmax", "cost", "calls svd", "c0de", "accepted", "fine", "2026-11-16")


def test_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert read_decisions(tmp_path) == Decisions()
    made = Decisions((RECORD, replace(RECORD, student="Ü 王", decision="rejected", comment='"x"\n')))
    write_decisions(tmp_path, made)
    assert read_decisions(tmp_path) == made
    assert "Ü 王" in (tmp_path / FILE).read_text(encoding="utf-8")


def test_a_decision_holds_only_for_the_same_item_of_the_same_code() -> None:
    made = Decisions((RECORD,))
    assert made.decide("ana", "01_softmax", "c0de", ITEM) == ("accepted", "fine")
    assert made.decide("ana", "01_softmax", "c0de", replace(ITEM, line=7, points=1.0)) == ("accepted", "fine")
    for student, module, submission, item in (
        ("ben", "01_softmax", "c0de", ITEM),
        ("ana", "02_loop_attention", "c0de", ITEM),
        ("ana", "01_softmax", "beef", ITEM),
        ("ana", "01_softmax", "c0de", replace(ITEM, target="log_softmax")),
        ("ana", "01_softmax", "c0de", replace(ITEM, what="code")),
        ("ana", "01_softmax", "c0de", replace(ITEM, reason="calls fft")),
    ):
        assert made.decide(student, module, submission, item) == ("open", "")
    assert made.find_earlier("ana", "01_softmax", "beef", ITEM) == RECORD
    assert made.find_earlier("ana", "01_softmax", "c0de", ITEM) is None


def test_a_new_decision_replaces_the_one_about_the_same_code_only() -> None:
    other = replace(RECORD, submission="beef")
    again = replace(RECORD, decision="rejected")
    assert Decisions((RECORD, other)).with_records([again]).records == (other, again)
    assert Decisions((RECORD, other)).without([again]).records == (other,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": 2, "decisions": []}',
        '{"schema": 1, "decisions": {}}',
        '{"schema": 1, "decisions": [{"student": "ana"}]}',
        json.dumps({"schema": 1, "decisions": [RECORD.__dict__ | {"decision": "perhaps"}]}),
        json.dumps({"schema": 1, "decisions": [RECORD.__dict__]})[:-20],
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_damaged_file_is_an_error_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(DecisionsError, match=r"cannot be read, so nothing was changed: .*To begin without decisions"):
        read_decisions(tmp_path)
    with pytest.raises(DecisionsError, match="nothing was changed"):
        Results(FileStore(tmp_path))
    assert (tmp_path / FILE).read_bytes() == data
    assert {path.name for path in tmp_path.iterdir()} == {FILE, ".lock"}


DAY = 86400.0


@pytest.mark.parametrize(
    ("score", "late_s", "penalty", "now", "final"),  # of 20 points
    [
        (14.0, 0.0, 0.0, 8.0, 8.0),
        (14.0, DAY, 2.0, 8.0, 6.0),
        (14.0, DAY * 7, 14.0, 8.0, 0.0),  # never below zero
        (1.0, DAY, 1.0, 8.0, 6.0),  # the penalty of 2 was larger than the score, but is not any more
        (0.0, DAY, 0.0, 8.0, 6.0),
    ],
)
def test_a_decision_keeps_the_late_penalty(
    score: float, late_s: float, penalty: float, now: float, final: float
) -> None:
    was = Mark("1", "", "", "ana", "01_tiny", "graded", score, 20.0, "", "", late_s, penalty, score, "", 1, True, True)
    mark = rescored(was, replace(REPORT, score=now, reviews=(), costs=()), read_penalty("10%/day"))
    assert (mark.score, mark.final) == (now, final)
    assert not mark.provisional

"""The pool of grading processes: reports wait for who reads them, and no more than a few."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.course import Course
from grader.grading import pool
from grader.grading.pool import grade_in_pool
from grader.submission.finder import find_submissions
from grader.submission.submission import SubmissionRef
from tests.conftest import write

COUNT = 12


@pytest.fixture
def work(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[SubmissionRef]:
    """Submissions that are not Python, and so have a report at once. Only one report may wait."""
    monkeypatch.setattr(pool, "MOST_WAITING", 1)
    folder = write(tmp_path / "class", {f"s{number:02d}/tiny.py": "def tiny(:" for number in range(COUNT)})
    return list(find_submissions(tiny, [folder]).handed_in)


def test_a_reader_that_is_slower_gets_every_report(tiny: Course, work: list[SubmissionRef]) -> None:
    found = [one.handed_in.student for one in grade_in_pool(tiny, work, 2, allow_unjailed=True)]
    assert sorted(found) == [one.student for one in work]
    assert len(found) == COUNT


def test_a_reader_that_stops_ends_processes_that_wait_for_room(tiny: Course, work: list[SubmissionRef]) -> None:
    results = grade_in_pool(tiny, work, 2, allow_unjailed=True)
    assert next(results).report.status == "not_importable"
    results.close()

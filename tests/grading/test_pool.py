"""The pool of grading processes: reports wait for who reads them, and no more than a few."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from grader.course.course import Course
from grader.grading import pool
from grader.grading.pool import cores_of, grade_in_pool, usable_cores
from grader.submission.finder import find_submissions
from grader.submission.submission import SubmissionRef
from tests.conftest import write

COUNT = 12
TEMPLATE = "grader.grading.template"


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


def test_if_there_is_a_process_for_each_core_it_stays_there(tiny: Course, work: list[SubmissionRef]) -> None:
    cores = psutil.Process().cpu_affinity()
    assert cores_of(len(cores)) == cores
    results = grade_in_pool(tiny, work, len(cores), allow_unjailed=True)
    next(results)  # at least one of them has begun
    templates = [one for one in psutil.Process().children() if TEMPLATE in one.cmdline()]
    forked = [one for template in templates for one in template.children() if TEMPLATE in one.cmdline()]
    grading = [one for one in forked if one.cpu_affinity() != cores]
    assert grading or len(cores) == 1
    assert len({*(core for one in grading for core in one.cpu_affinity())}) == len(grading)
    results.close()


def test_fewer_processes_run_on_any_core() -> None:
    assert cores_of(usable_cores() + 1) == [None] * (usable_cores() + 1)

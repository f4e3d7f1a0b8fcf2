"""A newer version of a file ends the checks of the older one."""

from __future__ import annotations

from collections.abc import Iterator

from grader.core.errors import SupersededError
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import check_own_files
from grader.submission.submission import Source, Submission
from tests.conftest import ROOT

RIGHT = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()
ENDLESS = f"{RIGHT}\n\ndef softmax(x, axis=-1):\n    while True:\n        pass\n"


def test_a_check_that_runs_is_ended_and_the_newer_version_is_checked(course: Course) -> None:
    heard: list[str] = []
    reports: list[Report] = []

    def versions() -> Iterator[Submission]:
        yield _submission(ENDLESS)
        assert heard == ["softmax"]
        assert reports == []
        yield _submission(RIGHT)

    def busy(what: str, seconds: float) -> None:
        assert seconds >= 0
        if what == "softmax" and not heard:
            heard.append(what)
            raise SupersededError

    check_own_files(course, course.module("softmax"), versions(), reports.append, busy=busy)
    assert [[check.outcome for check in one.checks] for one in reports] == [["passed"] * 5]


def _submission(text: str) -> Submission:
    return Submission("you", "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (text,), notebook=False)})

"""The cost of the engine: a class graded over the wire, compared with the same calls in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from docs.bench.command import timed
from docs.bench.row import Row, costs
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.loading import load_reference
from grader.grading.checks import Check
from grader.grading.grade import full_suite, grade, run_grading
from grader.grading.run_suite import run_suite
from grader.grading.suite import Judge
from grader.sandbox.session import SessionOptions
from grader.sandbox.session_record import SessionRecord
from grader.sandbox.student import Arguments, Call, Student
from grader.submission.submission import Source, Submission

ROOT = Path(__file__).parent.parent.parent
PART = "the engine: a right submission of 01_softmax, one session for all"
SUBMISSIONS = 200
TIMES_BARE, AND_SECONDS = 3, 0.060  # a submission may cost this many times its bare calls, plus these seconds


def engine() -> Iterator[Row]:
    """Yield the cost of a submission over the wire, with and without measuring its costs, and in this process."""
    course = read_course(ROOT)
    module = course.modules[0]
    reports: list[Report] = []
    quick = replace(full_suite(course, module), measured=False)
    session = timed(lambda: run_grading(quick, class_of(course, SUBMISSIONS), reports.append)) / SUBMISSIONS
    assert all(report.score == report.max_score for report in reports)
    measured: list[Report] = []
    with_costs = timed(lambda: grade(course, module, class_of(course, SUBMISSIONS), measured.append)) / SUBMISSIONS
    assert [report.score for report in measured] == [module.points] * SUBMISSIONS
    suite, bare = (seconds / SUBMISSIONS for seconds in _in_this_process(course))
    allowed = TIMES_BARE * bare + AND_SECONDS
    yield costs(PART, "over the wire, no profiles", session, (f"{TIMES_BARE} x bare calls + 60 ms", allowed), most=1)
    yield costs(PART, "the same suite in this process", suite, ("the bare calls", bare))
    yield costs(PART, "with profiles", with_costs, ("without", session))


def class_of(course: Course, count: int) -> list[Submission]:
    """Return right submissions of the first module."""
    module = course.modules[0]
    source = Source("softmax.py", (course.solution(module).read_text(),), notebook=False)
    return [Submission(f"s{i:04}", module.name, "softmax.py", {module.slug: source}) for i in range(count)]


def _in_this_process(course: Course) -> tuple[float, float]:
    """Return the seconds of the suite, and of the bare calls in it, for the complete class."""
    module = course.modules[0]
    student = InProcess(load_reference(course, module))
    seconds = 0.0

    def body(checks: tuple[Check, ...], judge: Judge) -> None:
        nonlocal seconds
        del checks

        def all_of_them() -> None:
            for _ in range(SUBMISSIONS):
                verdict = judge(cast(Student, student))
                assert all(check.outcome == "passed" for check in verdict.checks), verdict

        seconds = timed(all_of_them)

    run_suite(full_suite(course, module), body)
    return seconds, student.seconds


class InProcess:
    """A student whose functions are called in this process, with their total time."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.seconds = 0.0
        self._session = _NoSession()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        return _Function(self, value) if callable(value) else value


class _NoSession:
    """A session without a worker."""

    gpu = None

    def __init__(self) -> None:
        self.record = SessionRecord()
        self.options = SessionOptions()

    def checking(self, name: str, **limits: Any) -> AbstractContextManager[None]:
        del name, limits
        return nullcontext()

    def start_afresh(self) -> bool:
        return False


class _Function:
    def __init__(self, owner: InProcess, function: Callable[..., Any]) -> None:
        self.owner = owner
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from grader.core.errors import StudentRaisedError

        self.owner._session.record.calls.returned.add(self.function.__name__)
        started = time.perf_counter()
        try:
            return self.function(*args, **kwargs)
        except ValueError as error:
            raise StudentRaisedError("f", ("ValueError",), str(error), "", 0, "") from None
        finally:
            self.owner.seconds += time.perf_counter() - started

    def call(self, *args: Any, **kwargs: Any) -> Call:
        return Call(self(*args, **kwargs), args, kwargs)

    def calls(self, calls: Sequence[Arguments]) -> list[Call]:
        return [self.call(*call.args, **call.kwargs) for call in calls]

    def call_many(self, calls: Sequence[Arguments]) -> list[Any]:
        return [self(*call.args, **call.kwargs) for call in calls]

"""What the engine costs: a class graded over the wire against the same calls made in this process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from grader.checks import Check
from grader.course import Course, read_course
from grader.grading import full_suite, grade, run_grading
from grader.reference import load_reference
from grader.report import Report
from grader.student import Arguments, Call, Student
from grader.submission import Source, Submission
from grader.suite import Judge, run_suite
from tests.bench.diagnosis import print_diagnoses
from tests.bench.loop import print_loop
from tests.bench.profiles import print_profiles
from tests.bench.sandbox import print_calls, print_class, print_spawning

ROOT = Path(__file__).parent.parent.parent
SUBMISSIONS = 200


class InProcess:
    """A student whose functions are called right here, with the time spent in them added up."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.seconds = 0.0
        self._session = _NoSession()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        return _Function(self, value) if callable(value) else value


class _NoSession:
    """There is no worker to start afresh."""

    def begin_check(self) -> None:
        pass

    def start_afresh(self) -> bool:
        return False


class _Function:
    def __init__(self, owner: InProcess, function: Callable[..., Any]) -> None:
        self.owner = owner
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from grader.errors import StudentRaisedError

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

    def callmany(self, calls: Sequence[Arguments]) -> list[Any]:
        return [self(*call.args, **call.kwargs) for call in calls]


def class_of(course: Course, count: int) -> list[Submission]:
    module = course.modules[0]
    source = Source("softmax.py", (course.solution(module).read_text(),), notebook=False)
    return [Submission(f"s{i:04}", module.name, "softmax.py", {module.slug: source}) for i in range(count)]


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def print_start_up() -> None:
    """Print what the light commands cost beside the bare import of click, medians of one interleaved run."""
    attn = str(Path(sys.executable).with_name("attn"))
    commands = {
        "import click": [sys.executable, "-c", "import click"],
        "attn --help": [attn, "--help"],
        "attn status": [attn, "status"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(11):
        for name, command in commands.items():
            run = partial(subprocess.run, command, cwd=ROOT, capture_output=True, check=False)
            seconds[name].append(timed(run))
    median = {name: statistics.median(values) for name, values in seconds.items()}
    print("start-up, whole processes")
    for name, base in [("attn --help", "import click"), ("attn status", "import click")]:
        print(f"  {name:<32} {median[name] * 1000:7.0f} ms, {median[name] / median[base]:.2f} x {base}")


def main() -> None:
    """Print the costs of one class, per submission and as a ratio, and those of the light commands."""
    print_start_up()
    loop = print_loop()
    course = read_course(ROOT)
    module = course.modules[0]
    reports: list[Report] = []
    quick = replace(full_suite(course, module), measured=False)
    session = timed(lambda: run_grading(quick, class_of(course, SUBMISSIONS), reports.append))
    assert all(report.score == report.max_score for report in reports)
    measured: list[Report] = []
    with_costs = timed(lambda: grade(course, module, class_of(course, SUBMISSIONS), measured.append))
    assert [report.score for report in measured] == [module.points] * SUBMISSIONS
    student = InProcess(load_reference(course, module))
    suite_seconds = 0.0

    def body(checks: tuple[Check, ...], judge: Judge) -> None:
        nonlocal suite_seconds
        del checks

        def all_of_them() -> None:
            for _ in range(SUBMISSIONS):
                verdict = judge(cast(Student, student))
                assert all(check.outcome == "passed" for check in verdict.checks), verdict

        suite_seconds = timed(all_of_them)

    run_suite(full_suite(course, module), body)
    each = 1000 / SUBMISSIONS
    print(f"{SUBMISSIONS} submissions of {module.name}, {len(reports[0].checks)} checks each, one pytest session")
    print(f"  over the wire, all but the costs {session * each:7.2f} ms a submission")
    print(f"  with the costs measured          {with_costs * each:7.2f} ms, {with_costs / session:.2f} x")
    print(f"  the same suite in this process   {suite_seconds * each:7.2f} ms a submission")
    print(f"  the bare calls in this process   {student.seconds * each:7.2f} ms a submission")
    allowed = 3 * student.seconds * each + 60
    print(f"  allowed: 3 x bare + 60 ms        {allowed:7.2f} ms, used {session * each / allowed:.2f} of it")
    profiles = print_profiles(course)
    diagnoses = print_diagnoses(course)
    print("the jail")
    good = [loop, profiles, diagnoses, session * each <= allowed, print_spawning("numpy"), print_spawning("torch")]
    print_calls()
    good.append(print_class(course, class_of(course, SUBMISSIONS // 4)))
    sys.exit(not all(good))


if __name__ == "__main__":
    main()

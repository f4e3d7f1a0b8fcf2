"""What a submission of a torch module costs, beside a cold process that imports torch and answers the same suite."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest import mock

from grader.course import Course, read_course
from grader.grading import full_suite, run_grading
from grader.module import Backend, Module
from grader.report import Report
from grader.sandbox.spawn import ColdSpawner, Spawner
from grader.sandbox.tiers import open_spawner
from grader.submission import Source, Submission
from grader.suite import Suite
from tests.bench.row import Limit, Row

ROOT = Path(__file__).parent.parent.parent
PART = "a right submission of a torch module, jail on"
FEWEST = 20.0
WARM, COLD = 30, 4


def torch_modules() -> Iterator[Row]:
    """Yield each torch module, with its costs measured and without."""
    course = read_course(ROOT)
    for module in course.modules:
        if module.backend == "torch":
            yield from _rows(course, module)


def _rows(course: Course, module: Module) -> Iterator[Row]:
    suite = full_suite(course, module)
    quick = replace(suite, measured=False)
    cold = _each(quick, course, ColdSpawner, COLD)
    for name, measured in (("no profiles", quick), ("with profiles", suite)):
        warm = _each(measured, course, open_spawner, WARM)
        limit = Limit(least=FEWEST)
        yield Row(PART, f"{module.name}, {name}", warm, "a cold process", cold, cold / warm, "s", limit)


def _each(suite: Suite, course: Course, opened: Callable[[Backend], Spawner], count: int) -> float:
    """Return the median seconds from one report to the next; the first has the start of everything in it."""
    module = suite.module
    source = Source(f"{module.slug}.py", (course.solution(module).read_text(),), notebook=False)
    moments: list[float] = []

    def noted(report: Report) -> None:
        assert report.status == "graded", report.message
        assert all(check.outcome == "passed" for check in report.checks), report
        moments.append(time.perf_counter())

    submissions = [Submission(f"s{i}", module.name, source.file, {module.slug: source}) for i in range(count + 1)]
    with mock.patch("grader.spawning.open_spawner", opened):
        run_grading(suite, submissions, noted, allow_unjailed=True)
    return statistics.median(after - before for before, after in pairwise(moments))

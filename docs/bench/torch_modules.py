"""The cost of a submission of a torch module, compared with a cold process that runs the same suite."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from docs.bench.command import timed
from docs.bench.row import Limit, Row
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Module
from grader.grading.grade import full_suite, run_grading
from grader.grading.suite import Suite
from grader.submission.submission import Source, Submission

ROOT = Path(__file__).parent.parent.parent
PART = "a right submission of a torch module, jail on"
FEWEST, GOAL = 8.0, 20.0
WARM, COLD = 30, 3


def torch_modules() -> Iterator[Row]:
    """Yield the rows of each torch module, with and without measuring its costs."""
    course = read_course(ROOT)
    for module in course.modules:
        if module.backend == "torch" and not module.fallback:  # one that builds on another needs more than a process
            yield from _rows(course, module)


def _rows(course: Course, module: Module) -> Iterator[Row]:
    suite = full_suite(course, module)
    command = [sys.executable, "-m", "docs.bench.cold", module.name]
    cold = statistics.median(timed(lambda: subprocess.run(command, cwd=ROOT, check=True)) for _ in range(COLD))
    for name, measured in (("no profiles", replace(suite, measured=False)), ("with profiles", suite)):
        warm = _each(measured, course)
        limit = Limit(least=FEWEST, goal=GOAL)
        yield Row(PART, f"{module.name}, {name}", warm, "a cold process", cold, cold / warm, "s", limit)


def _each(suite: Suite, course: Course) -> float:
    """Return the median seconds from one report to the next; the first one includes the start of everything."""
    module = suite.module
    source = Source(f"{module.slug}.py", (course.solution(module).read_text(),), notebook=False)
    moments: list[float] = []

    def noted(report: Report) -> None:
        assert report.status == "graded", report.message
        assert all(check.outcome == "passed" for check in report.checks), report
        moments.append(time.perf_counter())

    submissions = [Submission(f"s{i}", module.name, source.file, {module.slug: source}) for i in range(WARM + 1)]
    run_grading(suite, submissions, noted)
    return statistics.median(after - before for before, after in pairwise(moments))

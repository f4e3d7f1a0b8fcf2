"""What diagnosis costs: a failing class graded with it and without, in CPU time of all processes."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from grader.course import read_course
from grader.grading import full_suite, run_grading
from grader.misconceptions import as_submission, read_misconceptions
from grader.report import Report
from grader.submission import Submission
from grader.suite import Suite
from tests.bench.row import Row, costs

ROOT = Path(__file__).parent.parent.parent
PART = "diagnosis: CPU time of a failing submission with it"
ALLOWED = 1.3
CLASS = 20
ROUNDS = 3
WRONG = {
    "01_softmax": "axis_zero",
    "02_loop_attention": "no_scaling",
    "03_attention": "mask_after_softmax",
    "04_masks": "mask_after_softmax",
}


def diagnosis() -> Iterator[Row]:
    """Yield the ratio for one wrong way of every module."""
    course = read_course(ROOT)
    for name, wrong in WRONG.items():
        module = course.module(name)
        (way,) = [one for one in read_misconceptions(course, module) if one.name == wrong]
        submissions = [as_submission(course, module, way)] * CLASS
        suites = [replace(full_suite(course, module), diagnosed=told) for told in (True, False)]
        rounds = [[_cpu(partial(_graded, suite, submissions)) for suite in suites] for _ in range(ROUNDS)]
        with_it, without = (min(seconds) / CLASS for seconds in zip(*rounds, strict=True))
        yield costs(PART, f"{name}, {wrong}", with_it, ("without", without), most=ALLOWED)


def _graded(suite: Suite, submissions: list[Submission]) -> None:
    reports: list[Report] = []
    run_grading(suite, submissions, reports.append)
    assert all(bool(report.diagnoses) == suite.diagnosed for report in reports)


def _cpu(action: Callable[[], None]) -> float:
    before = _used()
    action()
    return _used() - before


def _used() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)

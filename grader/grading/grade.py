"""Grading: submissions of one module in, a report for each out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.core.report import Report
from grader.course.course import Course
from grader.course.load_solution import load_reference
from grader.course.module import CourseError, Module
from grader.course.seeds import secret_salt
from grader.diagnosis.diagnose import Diagnoser
from grader.grading.checks import Check
from grader.grading.load_student import require_backend
from grader.grading.run_suite import run_suite
from grader.grading.submission_grading import GradingContext, SubmissionGrading
from grader.grading.suite import Judge, Suite
from grader.grading.workers import Workers
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import ZygoteSpawner
from grader.sandbox.jail.view import view_for
from grader.submission.submission import Submission, own_submission

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    pass


def grade(
    course: Course,
    module: Module,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    limits: Limits | None = None,
    *,
    allow_unjailed: bool = False,
    gpu: bool = False,
) -> None:
    """Grade submissions by a module's visible and hidden checks, giving out each report as it is done.

    With `gpu`, also by those that need one; without, they are in the report as not run. NoJailError where this machine
    gives no jail, unless that is allowed: they are other people's code.
    """
    require_hidden(course, module)
    suite = replace(full_suite(course, module), gpu=course.gpu_suite(module))
    run_grading(suite, submissions, on_report, limits, allow_unjailed=allow_unjailed, gpu=gpu)


def full_suite(course: Course, module: Module) -> Suite:
    """Return a module's visible and hidden checks, with its reference and the course's secret salt."""
    hidden = course.hidden_suite(module)
    if not hidden.is_file():
        fix = "Grading needs the full course; in a student's bundle there is `attn test`"
        raise CourseError(hidden, "", "is missing", fix, usage=course.is_bundle)
    reference = load_reference(course, module)
    return Suite(module, course.api(module), module.checks, hidden, secret_salt(course), reference)


def check_own_file(course: Course, module: Module, begun: ZygoteSpawner | None = None, case: str = "") -> Report:
    """Run the visible checks on the student's own file, with their other modules beside it."""
    reports: list[Report] = []
    check_own_files(course, module, [own_submission(course, module)], reports.append, begun, case)
    (report,) = reports
    return report


def check_own_files(
    course: Course,
    module: Module,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    begun: ZygoteSpawner | None = None,
    case: str = "",
) -> None:
    """Run the visible checks on one state of the student's file after another, as they come."""
    suite = Suite(module, course.api(module), module.checks, case=case)
    run_grading(suite, submissions, on_report, allow_unjailed=True, begun=begun)


def run_grading(
    suite: Suite,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    limits: Limits | None = None,
    *,
    allow_unjailed: bool = False,
    begun: ZygoteSpawner | None = None,
    workers: Workers | None = None,
    gpu: bool = False,
) -> None:
    """Grade submissions by the checks of any suite of a module; without a jail only one's own, if that is said."""
    require_backend(suite.module)
    cost_measurer = suite.cost_measurer()
    gpu_measurer = suite.gpu_measurer() if gpu and suite.measured and suite.module.gpu else None
    gpu = gpu and (gpu_measurer is not None or suite.gpu is not None)  # or there is nothing to do there
    diagnoser = Diagnoser(suite.module) if suite.diagnosed else None

    def body(checks: tuple[Check, ...], judge: Judge) -> None:
        measurers = (cost_measurer, gpu_measurer)
        context = GradingContext(
            suite.module, suite.api, checks, judge, *measurers, diagnoser, found, limits or Limits()
        )
        for submission in submissions:
            grading = SubmissionGrading(context, submission)
            on_report(found.run_with_retry(grading.run, grading.not_graded))

    opened = workers is None
    found = Workers(suite.module.backend, begun, allow_unjailed=allow_unjailed, gpu=gpu) if workers is None else workers
    with found if opened else contextlib.nullcontext():
        run_suite(suite, body)  # the zygote imports its libraries while pytest collects


def require_hidden(course: Course, module: Module) -> None:
    """Say so where the course lies in a folder of Python's or the system's, which graded code has to see."""
    if view_for(module.backend).shows(course.root):
        fix = "Move the course to a folder of its own"
        raise CourseError(course.root, "", "lies among the libraries that graded code may read", fix)

"""Grading of the submissions of one module: a report for each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from grader.core.errors import SupersededError
from grader.core.report import Report
from grader.course.course import Course
from grader.course.loading import load_reference
from grader.course.module import CourseError, Module
from grader.course.seeds import secret_salt
from grader.diagnosis.diagnose import Diagnoser
from grader.grading.checks import Check
from grader.grading.load_student import require_backend
from grader.grading.own_words import explained
from grader.grading.run_suite import run_suite
from grader.grading.stand_in import StandIn
from grader.grading.submission_grading import GradingContext, SubmissionGrading
from grader.grading.suite import Judge, Suite, gpu_measurer_of
from grader.grading.workers import MODULE_NEEDS_GPU, NoGpuError, TellSlowCheck, Workers, open_workers
from grader.sandbox.jail.limits import GPU_LIMITS, Limits
from grader.sandbox.jail.spawner import ZygoteSpawner
from grader.sandbox.jail.view import gpu_devices, view_for
from grader.sandbox.session import Busy
from grader.submission.submission import Submission, own_submission


def grade(
    course: Course,
    module: Module,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    limits: Limits | None = None,
    *,
    allow_unjailed: bool = False,
    begun: ZygoteSpawner | None = None,
    gpu: bool = False,
    tell: TellSlowCheck = lambda *_: None,
) -> None:
    """Grade submissions by a module's visible and hidden checks; `on_report` gets each report when it is done.

    With `gpu`, the checks that need a GPU run too; otherwise the report says that they were not run. Without a jail,
    NoJailError unless `allow_unjailed`: this is other people's code. `begun` is a zygote that has started already.
    `tell` is called before a slow check runs.
    """
    require_hidden(course, module)
    suite = replace(full_suite(course, module), gpu=course.gpu_suite(module))
    run_grading(
        suite,
        submissions,
        on_report,
        limits,
        allow_unjailed=allow_unjailed,
        begun=begun,
        gpu=gpu,
        course=course,
        tell=tell,
    )


def full_suite(course: Course, module: Module) -> Suite:
    """Return a module's visible and hidden checks, with its reference and the course's secret salt."""
    hidden = course.hidden_suite(module)
    if not hidden.is_file():
        fix = "Grading needs the full course. In a student's bundle, use `attn test`"
        raise CourseError(hidden, "", "is missing", fix, usage=course.is_bundle)
    # Code for a GPU cannot compute what is expected in this process.
    reference = None if module.needs_gpu else load_reference(course, module)
    return Suite(module, course.api(module), module.checks, hidden, secret_salt(course), reference)


def check_own_file(
    course: Course,
    module: Module,
    begun: ZygoteSpawner | None = None,
    case: str = "",
    told: TellSlowCheck = lambda *_: None,
    busy: Busy = lambda *_: None,
) -> Report:
    """Run the visible checks on the student's own file. Their other modules can be imported."""
    reports: list[Report] = []
    check_own_files(course, module, [own_submission(course, module)], reports.append, begun, case, told, busy)
    (report,) = reports
    return report


def check_own_files(
    course: Course,
    module: Module,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    begun: ZygoteSpawner | None = None,
    case: str = "",
    told: TellSlowCheck = lambda *_: None,
    busy: Busy = lambda *_: None,
) -> None:
    """Run the visible checks on one version of the student's file after another.

    `busy` is called while student code runs. A SupersededError that it raises ends the checks of this version.
    """
    suite = Suite(module, course.api(module), module.checks, case=case)
    current: list[Submission] = []

    def each() -> Iterator[Submission]:
        for submission in submissions:
            current[:] = [submission]
            yield submission

    def tell(report: Report) -> None:
        on_report(explained(report, current[0], suite.api, Limits().with_cpu(module.cpu_s)))

    gpu = module.needs_gpu
    run_grading(suite, each(), tell, allow_unjailed=True, begun=begun, gpu=gpu, course=course, tell=told, busy=busy)


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
    course: Course | None = None,
    tell: TellSlowCheck = lambda *_: None,
    busy: Busy = lambda *_: None,
) -> None:
    """Grade submissions by the checks of any suite; without a jail only with `allow_unjailed`, for one's own code.

    With `course`, the fallbacks of the module stand in for earlier modules that are missing or at fault.
    """
    module = suite.module
    alone = module.needs_gpu  # every call of such a module is made on the GPU
    if alone and not (gpu and gpu_devices()):
        raise NoGpuError(MODULE_NEEDS_GPU)
    require_backend(module)
    cost_measurer = suite.cost_measurer()
    is_measured = gpu and suite.hidden is not None and suite.measured and module.gpu
    gpu_measurer = gpu_measurer_of(suite) if is_measured else None
    gpu = alone or (gpu and (gpu_measurer is not None or suite.gpu is not None))  # otherwise it has nothing to do
    diagnoser = Diagnoser(module) if suite.diagnosed and not alone else None
    allowed = (limits or (GPU_LIMITS if alone else Limits())).with_cpu(module.cpu_s)
    opened = open_workers(module.backend, begun, allow_unjailed=allow_unjailed, gpu=gpu, alone=alone)
    with contextlib.nullcontext(workers) if workers else opened as used:
        stand_in = _stand_in(suite, course, limits, used)

        def body(checks: tuple[Check, ...], judge: Judge) -> None:
            measurers = (cost_measurer, gpu_measurer)
            context = GradingContext(module, suite.api, checks, judge, *measurers, diagnoser, used, allowed, tell, busy)

            def graded(submission: Submission) -> Report:
                grading = SubmissionGrading(context, submission)
                return used.run_with_retry(grading.run, grading.not_graded)

            for submission in submissions:
                with contextlib.suppress(SupersededError):
                    on_report(graded(submission) if stand_in is None else stand_in.graded(submission, graded))

        run_suite(suite, body)  # the zygote imports its libraries while pytest collects


def authors_reports(
    suite: Suite, submissions: Iterable[Submission], workers: Workers | None = None, *, gpu: bool = False
) -> list[Report]:
    """Return the reports of submissions by the author, which need no jail."""
    reports: list[Report] = []
    run_grading(suite, submissions, reports.append, allow_unjailed=True, workers=workers, gpu=gpu)
    return reports


def _stand_in(suite: Suite, course: Course | None, limits: Limits | None, workers: Workers) -> StandIn | None:
    """Return what decides which fallbacks stand in; None for a module without any."""
    if course is None or not suite.module.fallback:
        return None

    def grade_earlier(module: Module, submission: Submission) -> Report:
        visible = Suite(module, course.api(module), module.checks)
        earlier = visible if suite.hidden is None else full_suite(course, module)
        reports: list[Report] = []
        run_grading(replace(earlier, diagnosed=False), [submission], reports.append, limits, workers=workers)
        return reports[0]

    return StandIn(course, suite.module, grade_earlier)


def require_hidden(course: Course, module: Module) -> None:
    """Raise a CourseError if the course is in a folder that graded code must see, such as that of Python."""
    if view_for(module.backend).shows(course.root):
        fix = "Move the course to another folder"
        raise CourseError(course.root, "", "is inside a folder of libraries that graded code may read", fix)

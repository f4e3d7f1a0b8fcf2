"""Trials of a module's fallbacks: the solution on top of each, and each by the checks of the earlier module."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.authoring.authors_submission import authors_submission
from grader.authoring.trials import Tell
from grader.core.report import Report
from grader.course.api import read_api
from grader.course.course import Course
from grader.course.earlier import imported_modules
from grader.course.module import CourseError, Module, module_error, read_text
from grader.grading.grade import full_suite, run_grading
from grader.grading.suite import Suite
from grader.grading.workers import Workers
from grader.submission.fallbacks import with_fallbacks
from grader.submission.submission import Submission


@dataclass(frozen=True)
class FallbackTrial:
    """A fallback, the solution's report on top of it, and its own report in the module that it stands in for."""

    file: str
    module: str  # that it stands in for
    solution: Report
    own: Report


def require_fallbacks(course: Course, module: Module) -> None:
    """Raise a CourseError if a fallback lacks a name of its module, or the stub imports a module without one."""
    for one in imported_modules(course, module, course.stub_text(module)):
        if one.slug not in module.fallback:
            problem = f"the stub imports mylab.{one.slug}, but a student's own may be missing or fail"
            fix = f'Write [fallback] {one.slug} = "fallback.py", and that file'
            raise module_error(module.folder, "fallback", problem, fix)
    for slug, path in module.fallbacks.items():
        earlier = course.module(slug)
        try:
            defined = read_api(read_text(path)).names
            lacking = [name for name in _wanted(course, earlier) if name not in defined]
        except SyntaxError as error:
            raise CourseError(path, f"line {error.lineno}", "is not Python", "Fix that line") from None
        if lacking:
            problem = f"does not define {', '.join(lacking)}"
            raise CourseError(path, "", problem, f"Define every function and class of {earlier.name}")


def try_fallbacks(
    course: Course, module: Module, solution: Submission, workers: Workers, tell: Tell
) -> tuple[FallbackTrial, ...]:
    """Try every fallback of a module."""
    found: list[FallbackTrial] = []
    for slug, path in module.fallbacks.items():
        tell(f"the fallback for {slug}")
        earlier = course.module(slug)
        on_it = with_fallbacks(course, module, solution, {slug: "is not there"})
        as_own = authors_submission(course, earlier, path.name, read_text(path))
        reports = [
            _graded(full_suite(course, module), on_it, workers),
            _graded(full_suite(course, earlier), as_own, workers),
        ]
        found.append(FallbackTrial(path.name, earlier.name, *reports))
    return tuple(found)


def _wanted(course: Course, earlier: Module) -> tuple[str, ...]:
    """Return the functions and classes of a module. Nothing builds on the answers under Reflect."""
    api = course.api(earlier)
    return (*api.functions, *api.classes)


def _graded(suite: Suite, submission: Submission, workers: Workers) -> Report:
    reports: list[Report] = []
    run_grading(replace(suite, diagnosed=False), [submission], reports.append, allow_unjailed=True, workers=workers)
    return reports[0]

"""Cases that are complete submissions, graded in one batch. Earlier modules are the course's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter

from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.grade import full_suite, run_grading
from grader.sandbox.jail.limits import Limits
from tests.cases import Case, cases
from tests.conftest import shared_workers
from tests.quick import sampled
from tests.submissions import with_earlier

EVERY = {"09_kv_cache": 2, "10_flash_attention": 2, "12_transformer": 2}  # these take up to ten seconds each


def grade_family(
    course: Course, family: str, name: str, limits: Limits | None = None, salt: str | None = None
) -> tuple[Report, ...]:
    """Grade the cases that a family has for a module, or a half of the longest."""
    module = course.module(name)
    chosen = sampled(cases(family, name), EVERY.get(name, 1), attrgetter("code"))
    reports = grade_cases(course, module, chosen, limits, salt)
    assert [report.max_score for report in reports] == [module.points] * len(chosen)
    return reports


def grade_cases(
    course: Course,
    module: Module,
    chosen: Iterable[Case],
    limits: Limits | None = None,
    salt: str | None = None,
) -> tuple[Report, ...]:
    """Grade complete submissions by all checks and costs of a module. A salt of its own gives other hidden inputs."""
    suite = full_suite(course, module)
    suite = suite if salt is None else replace(suite, salt=salt)
    reports: list[Report] = []
    submissions = [with_earlier(course, module, case.source(module), case.name) for case in chosen]
    run_grading(suite, submissions, reports.append, limits, workers=shared_workers(module.backend))
    return tuple(reports)


def lost_marks(reports: tuple[Report, ...]) -> dict[str, list[tuple[str, str]]]:
    """Return what each submission lost and why. One that has full marks is left out."""
    return {
        report.submission: [("status", f"{report.status}: {report.message}")]
        + [(check.name, check.message) for check in report.asked if check.outcome != "passed"]
        + [(f"{cost.function}, {cost.meter}", cost.message) for cost in report.costs if cost.verdict != "pass"]
        + [(call.call, call.why) for call in report.forbidden]
        for report in reports
        if (report.status, report.score) != ("graded", report.max_score)
    }

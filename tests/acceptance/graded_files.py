"""Grading of files in tests/data/: each one is a complete submission for a module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.grade import full_suite, run_grading
from grader.sandbox.jail.limits import Limits
from grader.submission.submission import Source, Submission


def submissions_of(course: Course, module: Module, paths: Iterable[Path]) -> list[Submission]:
    """Return each file as the submission of one student, who has the solutions of all earlier modules."""
    earlier = {one.slug: course.solution(one).read_text() for one in course.modules if one.order < module.order}
    submissions = []
    for path in paths:
        texts = earlier | {module.slug: path.read_text()}
        files = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in texts.items()}
        submissions.append(Submission(path.stem, module.name, f"{module.slug}.py", files))
    return submissions


def graded(
    course: Course, module: Module, paths: Iterable[Path], limits: Limits, salt: str | None = None
) -> list[Report]:
    """Grade files by all checks of a module, and by their costs. A salt of its own gives other hidden inputs."""
    suite = full_suite(course, module)
    suite = suite if salt is None else replace(suite, salt=salt)
    reports: list[Report] = []
    run_grading(suite, submissions_of(course, module, paths), reports.append, limits, allow_unjailed=True)
    return reports

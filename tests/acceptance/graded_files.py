"""Files of tests/data/ that are complete submissions, graded in one batch. Earlier modules are the course's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module
from grader.course.notebook import read_cells
from grader.grading.grade import full_suite, run_grading
from grader.sandbox.jail.limits import Limits
from grader.submission.submission import Source
from tests.conftest import shared_workers
from tests.quick import sampled
from tests.submissions import with_earlier

EVERY = {"09_kv_cache": 2, "10_flash_attention": 2, "12_transformer": 2}  # these take up to ten seconds each


def grade_folder(
    course: Course, folder: Path, limits: Limits | None = None, salt: str | None = None
) -> tuple[Report, ...]:
    """Grade the scripts and notebooks of a folder that is named after its module, or a half of the longest."""
    module = course.module(folder.name)
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".py", ".ipynb"))
    paths = sampled(paths, EVERY.get(module.name, 1), Path.read_text)
    reports = grade_files(course, module, paths, limits, salt)
    assert [report.max_score for report in reports] == [module.points] * len(paths)
    return reports


def grade_files(
    course: Course,
    module: Module,
    paths: Iterable[Path],
    limits: Limits | None = None,
    salt: str | None = None,
) -> tuple[Report, ...]:
    """Grade files by all checks and costs of a module. A salt of its own gives other hidden inputs."""
    suite = full_suite(course, module)
    suite = suite if salt is None else replace(suite, salt=salt)
    reports: list[Report] = []
    submissions = [with_earlier(course, module, _source(module, path), path.stem) for path in paths]
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


def _source(module: Module, path: Path) -> Source:
    file = f"{module.slug}{path.suffix}"
    if path.suffix == ".ipynb":
        return Source(file, read_cells(path.read_bytes()), notebook=True)
    return Source(file, (path.read_text(encoding="utf-8"),), notebook=False)

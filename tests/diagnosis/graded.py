"""What the tests of names share: submissions with a mistake, and the names in their reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from grader.authoring.misconceptions import Misconception
from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module, read_text
from grader.grading.grade import run_grading
from grader.grading.suite import Suite
from grader.submission.submission import Submission
from tests.cases import cases
from tests.conftest import shared_workers
from tests.quick import sampled
from tests.submissions import submission_of

MODULES = ["01_softmax", "02_loop_attention", "03_attention", "04_masks", "05_torch_attention"]
MODULES += ["06_multi_head_attention", "07_gpu_path", "08_positions", "09_kv_cache", "10_flash_attention"]
MODULES += ["11_efficient_attention", "12_transformer"]
# The proof of the course says the same of every fingerprint; these grade each submission in full.
GRADED = [MODULES[0], *(pytest.param(name, marks=pytest.mark.exhaustive) for name in MODULES[1:])]

# One of so many misconceptions is graded here. The proof of the course has them all; 12 trains a model.
EVERY = {name: 15 for name in MODULES[1:]} | {"01_softmax": 2, "12_transformer": 30}


def some_of(ways: Sequence[Misconception], name: str) -> list[Misconception]:
    """Return some of the misconceptions of a module."""
    return sampled(ways, EVERY.get(name, 1), lambda way: way.code)


def graded(suite: Suite, submissions: list[Submission]) -> list[Report]:
    reports: list[Report] = []
    run_grading(suite, submissions, reports.append, workers=shared_workers(suite.module.backend))
    return reports


def names(report: Report) -> list[str]:
    return [one.misconception for one in report.diagnoses if one.misconception]


def appended(course: Course, module: Module, kind: str) -> dict[str, Submission]:
    solution = read_text(course.solution(module))
    return {
        case.name: replace(submission_of(course, module, case.over(solution)), student=case.name)
        for case in cases(kind, module.name)
    }

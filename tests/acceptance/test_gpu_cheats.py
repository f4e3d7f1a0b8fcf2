"""Cheats on the simulated GPU, in tests/data/gpu_cheats/: each one loses points, or an instructor is asked to check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.grading.checks import Check
from grader.grading.grade import full_suite, run_grading
from grader.grading.suite import Suite
from tests.cases import cases
from tests.conftest import shared_workers
from tests.submissions import submission_of

NAME = "07_gpu_path"
pytestmark = pytest.mark.exhaustive  # test_cheats.py tries one in the quick run
CHEATS = cases("gpu_cheats")


class OfDevices(Suite):
    """The checks on the simulated GPU, and no others."""

    def wants(self, check: Check) -> bool:
        return bool(re.search("lives_with|moves_a_mask|stays_on|on_a_gpu|on_the_cpu|a_batch|move_", check.name))


@pytest.fixture(scope="module")
def reports(course: Course) -> Mapping[str, Report]:
    module = course.module(NAME)
    complete = replace(full_suite(course, module), measured=False, diagnosed=False)
    suite = OfDevices(**{one.name: getattr(complete, one.name) for one in fields(complete)})
    solution = course.solution(module).read_text()
    texts = {"the solution": solution} | {case.name: case.over(solution) for case in CHEATS}
    submissions = [replace(submission_of(course, module, text), student=name) for name, text in texts.items()]
    found: dict[str, Report] = {}
    workers = shared_workers(module.backend)
    run_grading(suite, submissions, lambda one: found.update({one.submission: one}), workers=workers)
    return found


def result_of(report: Report) -> str:
    assert report.status == "graded"
    if any(check.outcome == "failed" for check in report.asked):
        return "fails"
    return "undecided" if report.needs_review else "passes"


def test_solution_passes_and_needs_no_review(reports: Mapping[str, Report]) -> None:
    assert result_of(reports["the solution"]) == "passes"


def test_no_cheat_passes(reports: Mapping[str, Report]) -> None:
    assert {case.name: result_of(reports[case.name]) for case in CHEATS} == {
        case.name: case.expected for case in CHEATS
    }


def test_undecided_check_keeps_its_points_and_names_the_line(reports: Mapping[str, Report]) -> None:
    report = reports["numbers_read_by_a_thread"]
    checks = [check for check in report.checks if check.undecided]
    assert {check.target for check in checks} == {"attention_on_device"}
    assert all(check.outcome == "passed" and check.earned == check.points for check in checks)
    reason = r"An instructor must check. On the simulated GPU, line \d+: a thread runs(; line \d+: a thread runs)*\."
    assert all(re.fullmatch(reason, check.undecided) for check in checks)

"""The submissions of tests/device/ under the suite of 07_gpu_path: who is disciplined loses nothing for discipline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.grading.checks import Check
from grader.grading.grade import full_suite, run_grading
from grader.grading.suite import Suite
from tests.conftest import shared_workers
from tests.sandbox.worker.gpu.cases import DeviceCase, device_cases
from tests.submissions import submission_of

pytestmark = pytest.mark.exhaustive  # 113 submissions in torch
NAME = "07_gpu_path"
# The checks that are about devices alone. That of pick_device asks for more than those submissions know.
DEVICES = {
    "attention_on_device": "on_a_gpu on_the_cpu manual_lives_with_its_input manual_moves_a_mask",
    "half_precision_attention": "half_lives_with_its_input half_moves_a_mask half_stays_on_the_cpu",
    "move_batch": "a_batch move_reaches_every_level move_does_not_block move_to_the_cpu",
    "pick_device": "with_a_gpu_and_without",
}
CASES = list(device_cases())


class OfDevices(Suite):
    """The checks about devices, and no others: there are many submissions."""

    def wants(self, check: Check) -> bool:
        return any(check.name in names.split() for names in DEVICES.values())


@pytest.fixture(scope="module")
def reports(course: Course) -> Mapping[str, Report]:
    """The reports of all of them, each laid over the solution."""
    module = course.module(NAME)
    whole = replace(full_suite(course, module), measured=False, diagnosed=False)
    suite = OfDevices(**{one.name: getattr(whole, one.name) for one in fields(whole)})
    solution = course.solution(module).read_text()
    submissions = [
        replace(submission_of(course, module, f"{solution}\n\n{case.source}"), student=f"{case.function} {case.name}")
        for case in CASES
    ]
    found: dict[str, Report] = {}
    workers = shared_workers(module.backend)
    run_grading(suite, submissions, lambda one: found.update({one.submission: one}), workers=workers)
    return found


def failed(reports: Mapping[str, Report], case: DeviceCase) -> list[str]:
    report = reports[f"{case.function} {case.name}"]
    return [one.name for one in report.checks if one.outcome != "passed" and one.name in DEVICES[case.function].split()]


def test_who_is_disciplined_passes_every_check_of_it(reports: Mapping[str, Report]) -> None:
    right = [case for case in CASES if not case.finds]
    assert {case.name: names for case in right if (names := failed(reports, case))} == {}


def test_who_is_not_fails_one_at_least(reports: Mapping[str, Report]) -> None:
    assert [case.name for case in CASES if case.finds and not failed(reports, case)] == []

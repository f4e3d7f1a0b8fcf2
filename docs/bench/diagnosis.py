"""The cost of diagnosis: CPU time of all processes for a failing class, with and without it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from docs.bench.row import Row, costs
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Report
from grader.course.course import read_course
from grader.grading.grade import full_suite, run_grading
from grader.grading.suite import Suite
from grader.submission.submission import Submission

ROOT = Path(__file__).parent.parent.parent
PART = "diagnosis: CPU time of a failing submission with it"
ALLOWED = 1.3
CLASS = 10
ROUNDS = 3
WRONG = {
    "01_softmax": "axis_zero",
    "02_loop_attention": "no_scaling",
    "03_attention": "mask_after_softmax",
    "04_masks": "mask_after_softmax",
    "05_torch_attention": "mask_after_softmax",
    "06_multi_head_attention": "scale_of_the_whole_width",
    "07_gpu_path": "mask_left_on_the_cpu",
    "08_positions": "rope_half_split",
    "09_kv_cache": "mask_from_the_top_left",
    "10_flash_attention": "accumulator_not_rescaled",
    "11_efficient_attention": "linear_without_normaliser",
    "12_transformer": "model_without_mask",
}


def diagnosis() -> Iterator[Row]:
    """Yield the ratio for one wrong way of every module."""
    course = read_course(ROOT)
    for name, wrong in WRONG.items():
        module = course.module(name)
        (way,) = [one for one in read_misconceptions(course, module) if one.name == wrong]
        submissions = [as_submission(course, module, way)] * CLASS
        suites = [replace(full_suite(course, module), diagnosed=told) for told in (True, False)]
        rounds = [[_cpu(suite, submissions) for suite in suites] for _ in range(ROUNDS)]
        with_it, without = (min(seconds) / CLASS for seconds in zip(*rounds, strict=True))
        yield costs(PART, f"{name}, {wrong}", with_it, ("without", without), most=ALLOWED)


def _cpu(suite: Suite, submissions: list[Submission]) -> float:
    """Return the CPU seconds of this process and of all workers. The time of a zygote that is killed is not known."""
    reports: list[Report] = []
    before = time.process_time()
    run_grading(suite, submissions, reports.append)
    used = time.process_time() - before
    assert all(bool(report.diagnoses) == suite.diagnosed for report in reports)
    return used + sum(report.timing["cpu_s"] or 0.0 for report in reports)

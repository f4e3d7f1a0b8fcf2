"""Checks use only tiny inputs in half precision, so that they stay fast on a CPU that has to emulate it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.grading.grade import full_suite, run_grading
from grader.sandbox.session import Session
from grader.testing.gradients import half_dtypes
from tests.conftest import ROOT, shared_workers
from tests.quick import quick_or_exhaustive
from tests.submissions import submission_of

TORCH = [module.name for module in read_course(ROOT).modules if module.backend == "torch"]
WITHOUT_HALF = {"09_kv_cache", "12_transformer"}  # their stubs promise nothing in half precision
MOST_ENTRIES, MOST_IN_ALL = 256, 10_000


def tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)


@pytest.mark.parametrize("name", quick_or_exhaustive(TORCH))
def test_what_is_sent_in_half_precision_is_tiny(course: Course, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[torch.Tensor] = []
    exchange = Session._exchange

    def noting(self: Session, message: dict[str, Any], call: str, owner: str) -> Any:
        sent.extend(one for one in tensors(message) if one.dtype in (torch.bfloat16, torch.float16))
        return exchange(self, message, call, owner)

    monkeypatch.setattr(Session, "_exchange", noting)
    module = course.module(name)
    reports: list[Report] = []
    suite = replace(full_suite(course, module), measured=False)
    solution = submission_of(course, module, course.solution(module).read_text())
    run_grading(suite, [solution], reports.append, workers=shared_workers(module.backend))
    assert all(check.outcome == "passed" for check in reports[0].checks)
    assert {one.dtype for one in sent} == (set() if name in WITHOUT_HALF else set(half_dtypes()))
    assert max((one.numel() for one in sent), default=0) <= MOST_ENTRIES
    assert sum(one.numel() for one in sent) <= MOST_IN_ALL


def test_there_are_torch_modules() -> None:
    assert TORCH

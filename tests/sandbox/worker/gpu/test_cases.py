"""Right and wrong submissions on the simulated GPU in a jailed worker: the findings are those that each cell names."""

from __future__ import annotations

import pytest

from grader.core.compare import Tolerance
from grader.testing import assert_close, assert_disciplined
from tests.conftest import StudentOf
from tests.sandbox.worker.gpu.cases import DeviceCase, attention, device_cases, kinds_of, ways

CASES = list(device_cases())
HALF = Tolerance(3e-2, 3e-2)


def test_there_are_many_right_and_wrong_cases() -> None:
    right = sum(not case.finds for case in CASES)
    assert right >= 40
    assert len(CASES) - right >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.function}-{case.name}")
def test_findings_match_the_case(student_of: StudentOf, case: DeviceCase) -> None:
    function = getattr(student_of(case.source, "torch"), case.function)
    kinds: set[str] = set()
    lines: set[int] = set()
    details = []
    for way in ways(case.function):
        found = function.on_device(*way.args, elsewhere=way.elsewhere, gpu=way.gpu, **way.kwargs)
        more_kinds, more_lines = kinds_of(way, found)
        kinds |= more_kinds
        lines |= more_lines
        details.append((way.name, found.devices, found.findings, found.copies))
        if not case.finds:
            assert found.findings == found.unwatched == ()
        if not case.finds and found.devices:
            assert_disciplined(found, found.value, device=way.device)
        if not case.finds and "attention" in case.function:
            precision = HALF if case.function == "half_precision_attention" else Tolerance(1e-5, 1e-6)
            for actual, expected in zip(found.value, attention(*way.args, **way.kwargs), strict=True):
                assert_close(actual.double(), expected, precision)
    assert kinds == case.finds, details
    assert lines == case.lines, details

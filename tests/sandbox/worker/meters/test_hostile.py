"""Meters next to hostile code: nothing they report is trusted, repeated, or expensive to read."""

from __future__ import annotations

import pytest

from grader.complexity.sampling import MAX_PLACES, MalformedSampleError, read_samples
from grader.course.course import Course
from tests.conftest import GradeSource

COUNTS = dict.fromkeys(("steps", "smul", "mul", "flops", "work", "mem", "sums"), 1)


def sample(**changes: object) -> dict[str, object]:
    lines: dict[str, object] = {meter: {1: 1} for meter in COUNTS}
    return {"value": None, "counts": COUNTS, "lines": lines, "unknown": {}, "events": {}} | changes


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"files": ["f.py"], "calls": [5]},
        {"files": [3], "calls": []},
        {"files": [], "calls": [sample(counts={"steps": 1})]},
        {"files": [], "calls": [sample(counts=COUNTS | {"steps": -1})]},
        {"files": [], "calls": [sample(counts=COUNTS | {"steps": 1.5})]},
        {"files": [], "calls": [sample(lines={meter: {-1: 1} for meter in COUNTS})]},
        {"files": [], "calls": [sample(lines={meter: dict.fromkeys(range(MAX_PLACES + 1), 1) for meter in COUNTS})]},
        {"files": [], "calls": [sample(unknown=["a"])]},
    ],
)
def test_malformed_measurement_is_refused(answer: object) -> None:
    with pytest.raises(MalformedSampleError):
        read_samples(answer)


def test_made_up_names_are_not_repeated() -> None:
    _, (one,) = read_samples(
        {"files": ["a\nb"], "calls": [sample(unknown={"x=[1.5, 2.5]\x1b[31m": 3, "numpy.dot": 4})]}
    )
    assert one.unknown == {"something of its own": 3, "numpy.dot": 4}


def source(course: Course, body: str) -> str:
    solution = course.solution(course.modules[0]).read_text()
    return f"{solution}\n\ntrue_softmax = softmax\n\n\ndef softmax(x, axis=-1):\n{body}"


def test_report_repeats_no_text_of_measured_code(course: Course, grade_source: GradeSource) -> None:
    spying = "    if x.shape == (2, 2):\n        raise ValueError(f'SPIED {x}')\n    return true_softmax(x, axis)\n"
    cheating = "    return true_softmax(x, axis) + (0.5 if x.shape == (2, 2) else 0)\n"
    for body in (spying, cheating):
        report = grade_source(source(course, body))
        said = [cost.message for cost in report.costs if cost.function == "softmax"]
        assert all(cost.verdict == "fail" for cost in report.costs if cost.function == "softmax")
        assert not any("SPIED" in text or "expected" in text for text in said), said


def test_forged_lines_earn_nothing(course: Course, grade_source: GradeSource) -> None:
    forging = "    if 'attn_meter' in globals():\n        attn_meter.work_lines.update(dict.fromkeys(range(5000), 1))\n"
    report = grade_source(source(course, forging + "    return true_softmax(x, axis)\n"))
    assert report.status == "graded"
    assert {cost.verdict for cost in report.costs if cost.function == "softmax"} == {"fail"}

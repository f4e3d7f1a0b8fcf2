"""The published schema of a report: valid for every status, with every field of a report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest

from grader.core.report import (
    CheckResult,
    CostResult,
    Diagnosis,
    EndingRecord,
    Excerpt,
    ForbiddenCall,
    Report,
    ReviewItem,
    ValueGap,
)
from tests.cli.conftest import Attn
from tests.conftest import ROOT, UNDECIDED, GradeSource, write
from tests.platforms.conftest import Graded, Validate

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
STATUSES = {"ana": "graded", "cy": "not_importable", "dee": "grader_fault", "eve": "not_graded"}


@pytest.mark.parametrize(("student", "status"), STATUSES.items())
def test_reports_of_every_status_are_valid(graded: Graded, valid_report: Validate, student: str, status: str) -> None:
    report = graded.report(student).as_json()
    assert report["status"] == status
    valid_report(report)


def test_reports_with_costs_endings_and_diagnoses_are_valid(attn: Attn, valid_report: Validate, tmp_path: Path) -> None:
    ending = write(tmp_path / "gil", {"softmax.py": "import os\n\n\ndef softmax(x, axis=-1):\n    os._exit(1)\n"})
    done = attn("grade", *(ROOT / "examples" / "class" / name for name in ("ben", "farah")), ending, "--json")
    found = json.loads(done.stdout)
    for report in found:
        valid_report(report)
    assert all(any(report[part] for report in found) for part in ("costs", "diagnoses", "endings"))


def test_a_report_with_something_undecided_is_valid(grade_source: GradeSource, valid_report: Validate) -> None:
    report = grade_source(UNDECIDED)
    assert report.reviews
    valid_report(report.as_json())


def test_a_students_own_report_is_valid(attn: Attn, valid_report: Validate) -> None:
    valid_report(json.loads(attn("test", "softmax", "--json").stdout))


@pytest.mark.parametrize(
    ("student", "change"),
    [
        ("ana", {"score": None}),
        ("dee", {"score": 0.0}),
        ("eve", {"score": 0.0}),
        ("ana", {"sandbox": "some"}),
        ("ana", {"extra": 1}),
        ("ana", {"checks": [{"name": "x"}]}),
    ],
)
def test_a_wrong_report_is_not_valid(
    graded: Graded, valid_report: Validate, student: str, change: dict[str, object]
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid_report(graded.report(student).as_json() | change)


@pytest.mark.parametrize(
    ("name", "kind", "not_published", "optional"),
    [
        ("check", CheckResult, {"asserted"}, set()),
        ("cost", CostResult, set(), {"code"}),
        ("forbidden", ForbiddenCall, set(), set()),
        ("review", ReviewItem, set(), set()),
        ("ending", EndingRecord, {"file", "line"}, set()),
        ("diagnosis", Diagnosis, {"function", "paste", "kind"}, {"code", "gap"}),
        ("excerpt", Excerpt, set(), set()),
        ("gap", ValueGap, set(), set()),
    ],
)
def test_the_schema_has_every_field_of_the_parts(
    name: str, kind: type, not_published: set[str], optional: set[str]
) -> None:
    fields = {field.name for field in dataclasses.fields(kind)} - not_published
    assert SCHEMA["$defs"][name]["properties"].keys() == fields == set(SCHEMA["$defs"][name]["required"]) | optional


def test_the_schema_has_every_field_of_a_report() -> None:
    fields = {field.name for field in dataclasses.fields(Report)} - {"printed", "properties", "answers"} | {
        "schema",
        "needs_review",
    }
    assert SCHEMA["properties"].keys() == fields == set(SCHEMA["required"]) | {"builds_on"}  # with fallbacks only

"""A student's bundle gives every known wrong way the same name as the full course."""

from __future__ import annotations

import shutil

import pytest

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import Course, read_course
from grader.grading.suite import Suite
from tests.conftest import ROOT
from tests.diagnosis.graded import GRADED, graded, names, some_of


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The course as students have it: neither solutions nor hidden suites."""
    root = tmp_path_factory.mktemp("bundle")
    shutil.copytree(ROOT / "modules", root / "modules", ignore=shutil.ignore_patterns("__pycache__"))
    return read_course(root)


@pytest.mark.parametrize("name", GRADED)
def test_a_bundle_gives_the_same_names(course: Course, bundle: Course, name: str) -> None:
    ways = [way for way in some_of(read_misconceptions(course, course.module(name)), name) if not way.costly]
    module = bundle.module(name)
    suite = Suite(module, bundle.api(module), module.checks)
    reports = graded(suite, [as_submission(course, course.module(name), way) for way in ways])
    found = {report.submission: names(report) for report in reports}
    assert found == {way.name: [way.name] for way in ways}

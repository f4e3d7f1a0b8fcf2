"""Runs of a suite: the checks of a student's own file without pytest where possible, all others with it."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType

import numpy as np

from grader.course.loading import load_python
from grader.course.module import read_text
from grader.grading.checks import Test
from grader.grading.judge import RunCheck, raised_by
from grader.grading.suite import Body, Result, Suite, run_tests, visible_rng
from grader.sandbox.student import Student

_NEEDS_PYTEST = re.compile(r"\b(?:pytest|hypothesis|unittest)\b|^class\s+Test", re.MULTILINE)
_DOCSTRING = re.compile(r'\A\s*""".*?"""', re.DOTALL)  # of a file: it may mention pytest
_FIXTURES = {"student", "rng"}


def run_suite(suite: Suite, body: Body[Result]) -> Result:
    """Collect a module's checks once, and return what `body` does with a judge that runs them against a student.

    A mistake in the suite is a CourseError, never a student's failure. If a student tests their own file, checks run
    without pytest where possible: its imports would take half of the time.
    """
    tests = direct_tests(suite.visible) if suite.hidden is None else None
    if tests is not None:
        return run_tests(suite, [(test, directly(test, suite.module.name)) for test in tests], body)
    from grader.grading.pytest_tests import run_with_pytest  # slow to import

    return run_with_pytest(suite, body)


def direct_tests(path: Path) -> list[Test] | None:
    """Return the test functions of a file, in order; None if one of them needs pytest."""
    if _NEEDS_PYTEST.search(_DOCSTRING.sub("", read_text(path), count=1)):
        return None
    with contextlib.redirect_stdout(io.StringIO()):  # what a suite prints belongs in no report
        name = f"_checks_{path.parent.name}"
        names = vars(load_python(path, name, verb="collected", missing="Write the checks", fix="Fix the suite"))
    return tests_among(names, path)


def tests_among(names: Mapping[str, object], path: Path) -> list[Test] | None:
    """Return the test functions among some names, in order; None if one of them needs pytest."""
    found: list[Test] = []
    for name, function in names.items():
        if not name.startswith("test_") or not isinstance(function, FunctionType):
            continue
        fixtures = tuple(inspect.signature(function).parameters)
        if not _FIXTURES.issuperset(fixtures):
            return None
        found.append(Test(name, path, function, fixtures))
    return found


def directly(test: Test, module: str) -> RunCheck:
    """Return what runs a visible check of a module once, without pytest."""

    def run(student: Student) -> BaseException | None:
        given = {"student": student, "rng": visible_rng(module, test.name)}
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return raised_by(lambda: test.function(**{name: given[name] for name in test.fixtures}))

    return run

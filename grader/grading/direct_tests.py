"""Direct tests: visible checks that do not need pytest, and run without it."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from grader.course.load_python import load_python
from grader.course.module import read_text
from grader.grading.checks import Test
from grader.grading.judge import raised_by

if TYPE_CHECKING:
    from grader.sandbox.student import Student

_NEEDS_PYTEST = re.compile(r"\b(?:pytest|hypothesis|unittest)\b|^class\s+Test", re.MULTILINE)
_FIXTURES = {"student", "rng"}


@dataclass(frozen=True)
class DirectTest:
    """A test function that can be called without pytest."""

    test: Test

    def run(self, student: Student, rng: np.random.Generator) -> BaseException | None:
        """Run the test once and return what it raised."""
        given = {"student": student, "rng": rng}
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return raised_by(lambda: self.test.function(**{name: given[name] for name in self.test.fixtures}))


def direct_tests(path: Path) -> list[DirectTest] | None:
    """Return the test functions of a file, in order; None if one of them needs pytest."""
    if _NEEDS_PYTEST.search(_code(read_text(path))):
        return None
    return tests_among(_names(path), path)


def tests_among(names: Mapping[str, object], path: Path) -> list[DirectTest] | None:
    """Return the test functions among some names, in order; None if one of them needs pytest."""
    found: list[DirectTest] = []
    for name, function in names.items():
        if not name.startswith("test_") or not isinstance(function, FunctionType):
            continue
        fixtures = tuple(inspect.signature(function).parameters)
        if not _FIXTURES.issuperset(fixtures):
            return None
        found.append(DirectTest(Test(name, path, function, fixtures)))
    return found


def _code(text: str) -> str:
    """Return a text without its docstring, which may mention pytest."""
    return re.sub(r'\A\s*""".*?"""', "", text, count=1, flags=re.DOTALL)


def _names(path: Path) -> dict[str, object]:
    """Import a file by its path and return its names."""
    with contextlib.redirect_stdout(io.StringIO()):  # what a suite prints belongs in no report
        name = f"_checks_{path.parent.name}"
        return vars(load_python(path, name, verb="collected", missing="Write the checks", fix="Fix the suite"))

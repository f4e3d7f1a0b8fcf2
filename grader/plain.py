"""Plain tests: visible checks that ask for nothing of pytest's, collected and run without it."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from grader.checks import Test
from grader.judging import raised_by
from grader.module import CourseError, read_text

if TYPE_CHECKING:
    from grader.student import Student

_NOT_PLAIN = re.compile(r"\b(?:pytest|hypothesis|unittest)\b|^class\s+Test", re.MULTILINE)
_FIXTURES = {"student", "rng"}


@dataclass(frozen=True)
class PlainTest:
    """A test function that can be called as it is."""

    test: Test

    def run(self, student: Student, rng: np.random.Generator) -> BaseException | None:
        """Run it once and return what it raised."""
        given = {"student": student, "rng": rng}
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return raised_by(lambda: self.test.function(**{name: given[name] for name in self.test.fixtures}))


def plain_tests(path: Path) -> list[PlainTest] | None:
    """Return the test functions of a file, in order; None if one of them needs pytest."""
    if _NOT_PLAIN.search(_code(read_text(path))):
        return None
    found: list[PlainTest] = []
    for name, function in _names(path).items():
        if not name.startswith("test_") or not isinstance(function, FunctionType):
            continue
        fixtures = tuple(inspect.signature(function).parameters)
        if not _FIXTURES.issuperset(fixtures):
            return None
        found.append(PlainTest(Test(name, path, function, fixtures)))
    return found


def _code(text: str) -> str:
    """Return a file without its docstring, which tells how to run it with pytest."""
    return re.sub(r'\A\s*""".*?"""', "", text, count=1, flags=re.DOTALL)


def _names(path: Path) -> dict[str, object]:
    """Import a file by its path and return its names; one that cannot be imported is a mistake in the suite."""
    spec = importlib.util.spec_from_file_location(f"_checks_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise CourseError(path, "", "cannot be imported", "Mend the suite")
    module = importlib.util.module_from_spec(spec)
    # A stale .pyc would be a stale suite.
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            spec.loader.exec_module(module)
    except Exception as error:
        problem = f"cannot be collected: {type(error).__name__}: {error}"
        raise CourseError(path, "", problem, "Mend the suite") from error
    finally:
        sys.dont_write_bytecode = bytecode
    return vars(module)

"""Suites that pytest collects and runs."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Generic

import numpy as np
import pytest

from grader.course.module import CourseError
from grader.course.seeds import seed_of
from grader.diagnosis.probe import Probe, read_probes
from grader.grading.checks import Test, check_name
from grader.grading.judge import raised_by
from grader.grading.pytest_plugin import MARK
from grader.grading.shown_shapes import ShownShapes
from grader.grading.suite import Body, Result, Suite, files_of, run_tests, visible_rng
from grader.sandbox.student import Student

# No terminal, no cache, no conftest, no plugin but ours: a suite runs the same in every folder.
_UNUSED = (
    "terminal",
    "cacheprovider",
    "capture",
    "logging",
    "warnings",
    "faulthandler",
    "unraisableexception",
    "threadexception",
    "junitxml",
    "doctest",
    "unittest",
)
_ARGUMENTS = (
    "--import-mode=importlib",
    "--noconftest",
    "--disable-plugin-autoload",
    *(f"-pno:{name}" for name in _UNUSED),
    f"-c{Path(__file__).with_name('suite.ini')}",  # empty, so that pytest does not look for another one
)
_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def run_with_pytest(suite: Suite, body: Body[Result]) -> Result:
    """Have pytest collect a suite, run `body` in its session, and return what it returns."""
    plugin = _SuitePlugin(suite, body)
    files = [str(path) for path in files_of(suite)]
    root = suite.module.folder.parent.parent
    with _untouched_process(files):
        code = pytest.main([*_ARGUMENTS, f"--rootdir={root}", *files], [plugin])
    if plugin.error is not None:
        raise plugin.error
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest ended with {code!r} before it ran the suite of {suite.module.name}")
    (result,) = plugin.results
    return result


@contextlib.contextmanager
def _untouched_process(files: list[str]) -> Iterator[None]:
    """Keep a suite and this process from changing each other."""
    modules = set(sys.modules)
    environment = {name: os.environ.pop(name) for name in _VARIABLES if name in os.environ}
    # A stale .pyc would hide a changed suite, and so would a suite that stays imported.
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        os.environ.update(environment)
        for name in set(sys.modules) - modules:
            if getattr(sys.modules[name], "__file__", None) in files:
                del sys.modules[name]


class SuiteFaultError(Exception):
    """A check that failed outside its own body: in a fixture, or in pytest itself."""


class _SuitePlugin(Generic[Result]):
    """What pytest calls: the public methods are its hooks and the fixtures of checks."""

    def __init__(self, suite: Suite, body: Body[Result]) -> None:
        self._suite = suite
        self._body = body
        self.error: BaseException | None = None
        self.results: list[Result] = []  # one, unless there is an error
        self._current: Student | None = None
        self._shapes: dict[str, ShownShapes] = {}  # by check

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", MARK)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        with contextlib.redirect_stdout(io.StringIO()):  # what a suite prints belongs in no report
            return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.error is None:
            path = report.fspath or str(self._suite.module.folder)
            self.error = CourseError(Path(path), *_collection_fault(report.longreprtext, Path(path)), "Fix the suite")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            if self.error is None:
                items = [item for item in session.items if isinstance(item, pytest.Function)]
                runs = [(_test(item), partial(self._call if _is_plain(item) else self._run, item)) for item in items]
                self.results.append(run_tests(self._suite, runs, self._body))
        except BaseException as error:  # noqa: BLE001 - pytest would print it; the caller must see it
            self.error = error
        return True

    @pytest.fixture
    def student(self) -> Student | None:
        """The student's module."""
        return self._current

    @pytest.fixture
    def reference(self) -> Any:
        """The reference solution, in the trusted process."""
        return self._own_reference()

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Random numbers for this check, the same for every student."""
        return self._own_rng(request.path, request.node.name)

    @pytest.fixture
    def shown(self, request: pytest.FixtureRequest) -> ShownShapes:
        """The calls that students can see, with other numbers."""
        return self._own_shown(request.path, request.node.name)

    def _own_reference(self) -> Any:
        """Return the reference, for checks that may use it."""
        if self._suite.reference is None:
            raise RuntimeError("there is no reference here: visible checks must not use it")
        return self._suite.reference

    def _own_rng(self, path: Path, test: str) -> np.random.Generator:
        """Return a check's random numbers; those of a hidden check come from the course's secret salt."""
        name = self._suite.module.name
        if path not in (self._suite.hidden, self._suite.gpu):
            return visible_rng(name, test)
        return np.random.default_rng(seed_of(self._suite.salt, name, check_name(test)))

    def _own_shown(self, path: Path, test: str) -> ShownShapes:
        """Return the calls that students can see, with the numbers of one check, the same for every student."""
        if test not in self._shapes:
            rng = partial(self._own_rng, path, f"{test} shown")
            self._shapes[test] = ShownShapes(self._probes, self._own_reference(), rng)
        return self._shapes[test]

    @cached_property
    def _probes(self) -> tuple[Probe, ...]:
        return read_probes(self._suite.module, self._suite.api)

    def _call(self, item: pytest.Function, student: Student) -> BaseException | None:
        """Call a check that does not need pytest, whose set-up and tear-down take longer than most checks."""
        give: dict[str, Callable[[], Any]] = {
            "student": lambda: student,
            "reference": self._own_reference,
            "rng": lambda: self._own_rng(item.path, item.name),
            "shown": lambda: self._own_shown(item.path, item.name),
        }
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return raised_by(lambda: item.obj(**{name: give[name]() for name in item._fixtureinfo.argnames}))

    def _run(self, item: pytest.Function, student: Student) -> BaseException | None:
        """Run one check once with pytest and return what it raised.

        These are the three phases of pytest's protocol without its reports: formatting tracebacks that are never read
        would take longer than the check.
        """
        self._current = student
        # The same item runs again for every student; this is how pytest's own rerun plugins reset it.
        item._initrequest()
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            # No next item: everything is torn down, so that nothing of one student is left for the next, also if a
            # save or Ctrl-C ends the check.
            try:
                problem = raised_by(lambda: item.ihook.pytest_runtest_setup(item=item))
                if isinstance(problem, AssertionError):
                    problem = SuiteFaultError(f"in the set-up of the check: {problem}")
                if problem is None:
                    problem = raised_by(lambda: item.ihook.pytest_runtest_call(item=item))
            finally:
                left = raised_by(lambda: item.ihook.pytest_runtest_teardown(item=item, nextitem=None))
        if left is not None:
            return SuiteFaultError(f"in the tear-down of the check: {left}")
        return problem


_OURS = {"student", "reference", "rng", "shown"}  # the last two use pytest's `request` themselves


def _is_plain(item: pytest.Function) -> bool:
    """Whether a check is a function of our fixtures only, without a class, marks, parameters or its own fixtures."""
    known = item._fixtureinfo.name2fixturedefs
    return (
        item.cls is None
        and not hasattr(item, "callspec")
        and not hasattr(item.obj, "hypothesis")
        and all(mark.name == "worth" for mark in item.iter_markers())
        and _OURS.issuperset(item._fixtureinfo.argnames)
        and all(name == "request" or (name in _OURS and len(known[name]) == 1) for name in item.fixturenames)
    )


def _test(item: pytest.Function) -> Test:
    return Test(item.name, item.path, item.function, tuple(item.fixturenames))


def _collection_fault(text: str, path: Path) -> tuple[str, str]:
    """Return the line of a suite that could not be collected, and the problem, from pytest's long description."""
    lines = re.findall(rf'{re.escape(path.name)}(?:", line |:)(\d+)', text)
    errors = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    reason = errors[-1] if errors else " ".join(text.split())[-300:]
    return (f"line {lines[-1]}" if lines else ""), f"cannot be collected: {reason}"

"""Suites: a module's visible and hidden checks, run by pytest against many submissions in one session."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.api import Api
from grader.checks import Check, check_name, read_checks
from grader.errors import StudentEndedError, StudentError
from grader.module import CourseError, Module
from grader.pytest_plugin import MARK
from grader.report import CheckResult, EndingRecord, SuiteName
from grader.sandbox.spawn import WorkerLostError
from grader.seeds import PUBLIC_SALT, seed_of
from grader.student import Student
from grader.verdict import Verdict, judge_check, may_be_anothers, result_of

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.accounts import Accounts

# No terminal, no cache, no conftest, no plugin but ours: a suite runs the same wherever it is run from.
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
    f"-c{Path(__file__).with_name('suite.ini')}",  # empty, so that pytest looks for no other
)
_NO_CASE = "Leave --case out to see what the checks are called"
_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


@dataclass(frozen=True)
class Suite:
    """The files of a module's checks; a student's bundle has no hidden ones."""

    module: Module
    api: Api
    visible: Path
    hidden: Path | None = None
    salt: str = ""
    reference: Any = None
    measured: bool = True  # whether costs are looked at, too
    diagnosed: bool = True  # whether failures are explained
    case: str = ""  # only checks whose name or property has this in it

    def files(self) -> dict[Path, SuiteName]:
        """Return the suite's files, visible checks first."""
        visible: dict[Path, SuiteName] = {self.visible: "visible"}
        return visible | ({self.hidden: "hidden"} if self.hidden else {})

    def accounts(self) -> Accounts | None:
        """Return how costs are measured; a student's own checks are to be quick and leave that to `attn profile`."""
        if self.hidden is None or not self.measured:
            return None
        from grader.complexity.accounts import accounts_of

        return accounts_of(self.module, self.salt, self.reference)

    def wants(self, check: Check) -> bool:
        """Whether a check is to be run."""
        return self.case.casefold() in f"{check.name} {check.property}".casefold()

    def require_points(self, checks: list[Check]) -> None:
        """See that the checks and costs of a whole suite add up to what the module says."""
        if self.hidden is None:
            return
        accounts = replace(self, measured=True).accounts()
        total = sum(check.points for check in checks) + (accounts.points if accounts else 0.0)
        if abs(total - self.module.points) > 1e-9:
            problem = f"is {self.module.points:g}, but the checks and costs are worth {total:g}"
            raise CourseError(self.module.folder / "module.toml", "points", problem, f"Write points = {total:g}")


# Given the list of checks, runs each submission it likes through the judge it is handed.
Judge = Callable[[Student], Verdict]
Body = Callable[[tuple[Check, ...], Judge], None]


def run_suite(suite: Suite, body: Body) -> None:
    """Collect a module's checks once and hand `body` a judge that runs them against a student.

    A mistake in the suite itself is a CourseError: it is the grader's, whatever the students did.
    """
    plugin = _SuitePlugin(suite, body)
    files = [str(path) for path in suite.files()]
    root = suite.module.folder.parent.parent
    with _untouched_process(files):
        code = pytest.main([*_ARGUMENTS, f"--rootdir={root}", *files], [plugin])
    if plugin.error is not None:
        raise plugin.error
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest ended with {code!r} before the suite of {suite.module.name} was run")


@contextlib.contextmanager
def _untouched_process(files: list[str]) -> Iterator[None]:
    """Keep what this process has from a suite, and a suite from this process."""
    modules = set(sys.modules)
    environment = {name: os.environ.pop(name) for name in _VARIABLES if name in os.environ}
    # A stale .pyc would be a stale suite, and an imported suite would not be read again.
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


class _SuitePlugin:
    def __init__(self, suite: Suite, body: Body) -> None:
        self.suite = suite
        self.body = body
        self.error: BaseException | None = None
        self.current: Student | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", MARK)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        with contextlib.redirect_stdout(io.StringIO()):  # what a suite prints is nobody's report
            return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.error is None:
            path = report.fspath or str(self.suite.module.folder)
            self.error = CourseError(Path(path), "", f"cannot be collected:\n{report.longreprtext}\n", "Mend the suite")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            if self.error is None:
                items = [item for item in session.items if isinstance(item, pytest.Function)]
                checks = read_checks(items, self.suite.files(), self.suite.api.targets)
                self.suite.require_points(checks)
                paired = [pair for pair in zip(items, checks, strict=True) if self.suite.wants(pair[1])]
                if not paired:
                    raise CourseError(self.suite.visible, self.suite.case, "is in no check", _NO_CASE, usage=True)
                self.body(tuple(check for _, check in paired), lambda student: self.judge(student, paired))
        except BaseException as error:  # noqa: BLE001 - pytest would print it; the caller must see it
            self.error = error
        return True

    @pytest.fixture
    def student(self) -> Student | None:
        """The student's module."""
        return self.current

    @pytest.fixture
    def reference(self) -> Any:
        """The reference solution, in the trusted process."""
        if self.suite.reference is None:
            raise RuntimeError("there is no reference here: visible checks must not use it")
        return self.suite.reference

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Random numbers that are this check's own and the same for every student."""
        name = self.suite.module.name
        if request.path != self.suite.hidden:
            return visible_rng(name, request.node.name)
        return np.random.default_rng(seed_of(self.suite.salt, name, check_name(request.node.name)))

    def judge(self, student: Student, paired: list[tuple[pytest.Function, Check]]) -> Verdict:
        """Run every check against one student, in order."""
        self.current = student
        results: dict[str, CheckResult] = {}
        endings: list[EndingRecord] = []
        retry = True
        for item, check in paired:
            if check.needs in results and results[check.needs].outcome != "passed":
                text = f"held back until {check.needs} passes"
                results[check.name] = result_of(check, "held_back", text, text)
                continue
            student._session.begin_check()
            problem = self.run(item)
            if problem is not None and may_be_anothers(problem) and student._session.start_afresh():
                problem = self.run(item)
            if isinstance(problem, StudentEndedError) and problem.waited and retry:
                # Waiting may have been the machine's doing, so it counts only if it happens twice.
                problem = self.run(item)
                retry = not (isinstance(problem, StudentEndedError) and problem.waited)
            if isinstance(problem, WorkerLostError):
                raise problem
            if isinstance(problem, StudentError) and problem.ending is not None:
                endings.append(EndingRecord(problem.ending.kind, check.name))
            results[check.name] = judge_check(check, problem)
            if problem is not None:
                traceback.clear_frames(problem.__traceback__)  # or a student's largest arrays would live on in it
        self.current = None
        return Verdict(tuple(results.values()), tuple(endings))

    def run(self, item: pytest.Function) -> BaseException | None:
        """Run one check once, by itself, and return what it raised.

        These are the three phases of pytest's own protocol, without its reports: formatting tracebacks that nobody
        reads would cost more than the check.
        """
        # The same item runs again for every student; this is how pytest's own rerun plugins reset it.
        item._initrequest()
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            problem = _raised_by(lambda: item.ihook.pytest_runtest_setup(item=item))
            if isinstance(problem, AssertionError):
                problem = SuiteFaultError(f"in the set-up of the check: {problem}")
            if problem is None:
                problem = _raised_by(lambda: item.ihook.pytest_runtest_call(item=item))
            # No next item: all is torn down after each check, so that nothing of one student is left for another.
            left = _raised_by(lambda: item.ihook.pytest_runtest_teardown(item=item, nextitem=None))
        if left is not None:
            return SuiteFaultError(f"in the tear-down of the check: {left}")
        return problem


def _raised_by(phase: Callable[[], object]) -> BaseException | None:
    try:
        phase()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - judged by its kind later
        return error
    return None


def visible_rng(module: str, test: str) -> np.random.Generator:
    """Return the random numbers of a visible check, the same in every clone and bundle."""
    return np.random.default_rng(seed_of(PUBLIC_SALT, module, check_name(test)))

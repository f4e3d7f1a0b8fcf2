"""Checks, as the test functions of a suite declare them with `@worth`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

from grader.core.report import SuiteName
from grader.course.module import CourseError, cpu_problem
from grader.testing.worth import Worth

ORACLES = ("reference", "oracle", "shown")


@dataclass(frozen=True)
class Test:
    """A test function of a suite, with the names of its fixtures."""

    name: str
    path: Path
    function: FunctionType
    fixtures: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """One check as its author declared it with `@worth`."""

    name: str
    suite: SuiteName
    target: str
    points: float
    property: str
    needs: str | None
    oracle: bool  # whether it compares with a complete answer computed in another way, instead of testing a property
    slow: bool = False  # it starts in a new process, and runs only once
    cpu_s: float | None = None  # the CPU time of one call, if it is not the module's


def read_checks(tests: Sequence[Test], files: dict[Path, SuiteName], targets: tuple[str, ...]) -> list[Check]:
    """Return the checks that a suite's test functions declare; CourseError if one is wrong."""
    checks: list[Check] = []
    for test in tests:
        check = _read_check(test, files[test.path], targets)
        names = [other.name for other in checks]
        if check.name in names:
            raise _suite_error(test, "has the same name as another check", "Rename one of the two")
        if check.needs is not None and check.needs not in names:
            raise _suite_error(test, f"needs {check.needs!r}, which is not an earlier check", "Name a check above it")
        checks.append(check)
    for path in files:
        if not any(test.path == path for test in tests):
            raise CourseError(path, "", "contains no checks", "Write at least one function test_... with @worth")
    return checks


def check_name(test: str) -> str:
    """Return the name of a check: the name of its test function without `test_`."""
    return test.removeprefix("test_")


def _read_check(test: Test, suite: SuiteName, targets: tuple[str, ...]) -> Check:
    worth = getattr(test.function, "worth", None)
    if not isinstance(worth, Worth):
        raise _suite_error(test, "has no @worth", 'Write @worth(2, "what it shows") above it')
    points, text = worth.points, worth.property
    if type(points) not in (int, float) or type(text) is not str:
        raise _suite_error(test, "needs a number of points and a property", 'Write @worth(2, "what it shows")')
    target = worth.target or targets[0]
    if target not in targets:
        raise _suite_error(test, f"has the unknown target {target!r}", f"The targets are {', '.join(targets)}")
    if not points > 0 or not text.strip():
        raise _suite_error(test, "has no points or an empty property", "Give it both")
    if worth.cpu_s is not None and (problem := cpu_problem(worth.cpu_s)) is not None:
        raise _suite_error(test, f"cpu_s {problem}", "Write it like cpu_s=30")
    return Check(
        name=check_name(test.name),
        suite=suite,
        target=target,
        points=float(points),
        property=text,
        needs=worth.needs,
        oracle=_compares(test),
        slow=bool(worth.slow),
        cpu_s=None if worth.cpu_s is None else float(worth.cpu_s),
    )


def _compares(test: Test) -> bool:
    """Whether a test only compares with a complete answer: a function called `oracle...` is a second way to it.

    A check of devices is about a property, too: it compares only so that zeros on a GPU do not pass.
    """
    if any(name.startswith(ORACLES) for name in test.fixtures):
        return True
    return _uses(test.function, "oracle") and not _uses(test.function, "assert_disciplined")


def _uses(function: FunctionType, start: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a test, or a helper it calls in the same file, uses a name that starts like this."""
    for name in _names(function.__code__):
        if name.startswith(start):
            return True
        helper = function.__globals__.get(name)
        if not isinstance(helper, FunctionType) or name in seen:
            continue
        same_file = helper.__code__.co_filename == function.__code__.co_filename
        if same_file and _uses(helper, start, seen | {name}):
            return True
    return False


def _names(code: CodeType) -> set[str]:
    nested = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names, nested))


def _suite_error(test: Test, problem: str, fix: str) -> CourseError:
    return CourseError(test.path, test.name, problem, fix)

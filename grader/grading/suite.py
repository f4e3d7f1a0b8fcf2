"""Suites: the visible and hidden checks of a module."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from grader.core.report import CheckResult
from grader.course.module import CourseError, Module
from grader.course.seeds import PUBLIC_SALT, seed_of
from grader.grading.argument_checks import argument_checks, judge_arguments
from grader.grading.check_outcome import CheckResults
from grader.grading.checks import Check, Test, check_name, read_checks
from grader.grading.judge import RunCheck, judge
from grader.sandbox.student import Student

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.gpu_costs import GpuMeasurer
    from grader.complexity.measurer import CostMeasurer
    from grader.core.report import SuiteName
    from grader.course.api import Api

Result = TypeVar("Result")
T = TypeVar("T", Check, CheckResult)
_NO_CASE = "Run it without --case to see the names of the checks"


@dataclass(frozen=True)
class Suite:
    """The files of a module's checks; a student's bundle has no hidden ones."""

    module: Module
    api: Api
    visible: Path
    hidden: Path | None = None
    salt: str = ""
    reference: Any = None
    measured: bool = True  # whether costs are measured, too
    diagnosed: bool = True  # whether failures are explained
    gpu: Path | None = None  # checks that need a GPU; their points are extra, and count only on a machine with a GPU
    case: str = ""  # only checks whose name or property contains this

    def cost_measurer(self) -> CostMeasurer | None:
        """Return the measurer of costs. A student's own checks have none, to stay quick: `attn profile` measures."""
        if self.hidden is None or not self.measured:
            return None
        from grader.complexity.measurer import cost_measurer

        return cost_measurer(self.module, self.salt, self.reference)

    def wants(self, check: Check) -> bool:
        """Whether a check is to be run."""
        return self.case.casefold() in f"{check.name} {check.property}".casefold()


def gpu_measurer_of(suite: Suite) -> GpuMeasurer:
    """Return the measurer of costs on a GPU."""
    from grader.complexity.gpu_costs import GpuMeasurer

    return GpuMeasurer(suite.module, suite.salt, suite.reference)


def files_of(suite: Suite) -> dict[Path, SuiteName]:
    """Return the files of a suite, visible checks first."""
    files: dict[Path, SuiteName] = {suite.visible: "visible"}
    return files | ({suite.hidden: "hidden"} if suite.hidden else {}) | ({suite.gpu: "gpu"} if suite.gpu else {})


class Judge(Protocol):
    """Runs the checks of a suite against a student: all of them, or only some."""

    def __call__(self, student: Student, only: Collection[str] | None = None) -> CheckResults: ...


# Gets the list of checks and a judge, and runs submissions through the judge.
Body = Callable[[tuple[Check, ...], Judge], Result]


def run_tests(suite: Suite, tests: Sequence[tuple[Test, RunCheck]], body: Body[Result]) -> Result:
    """Read the checks that the tests of a suite declare, and return what `body` makes of them and their judge."""
    checks = read_checks([test for test, _ in tests], files_of(suite), suite.api.targets)
    own = () if suite.hidden is None else argument_checks(suite.module, suite.api, checks)
    _require_points(suite, [*checks, *own])
    pairs = [(run, check) for (_, run), check in zip(tests, checks, strict=True) if suite.wants(check)]
    if not pairs:
        raise CourseError(suite.visible, suite.case, "matches no check", _NO_CASE, usage=True)

    def judge_student(student: Student, only: Collection[str] | None = None) -> CheckResults:
        left_out = {check.name: check.target for _, check in pairs if only is not None and check.name not in only}
        found = judge(student, [pair for pair in pairs if pair[1].name not in left_out])
        calls = student._session.record.all_calls
        more = judge_arguments(own, calls, found.checks, checks, suite.api, left_out.values())
        return replace(found, checks=_in_order((*found.checks, *more)))

    return body(_in_order((*(check for _, check in pairs), *own)), judge_student)


def _require_points(suite: Suite, checks: list[Check]) -> None:
    """Raise a CourseError unless the checks and costs of a complete suite add up to the points of the module."""
    module = suite.module
    if suite.hidden is None:
        return
    measurer = replace(suite, measured=True).cost_measurer()
    total = sum(check.points for check in checks if check.suite != "gpu") + (measurer.points if measurer else 0.0)
    total += gpu_measurer_of(suite).points if module.needs_gpu else 0.0  # there, they are not extra
    if abs(total - module.points) > 1e-9:
        problem = f"is {module.points:g}, but the checks and costs are worth {total:g}"
        raise CourseError(module.folder / "module.toml", "points", problem, f"Write points = {total:g}")


def _in_order(found: Sequence[T]) -> tuple[T, ...]:
    """Return checks or results by suite: the engine's own are hidden ones, and come before those that need a GPU."""
    return tuple(sorted(found, key=lambda one: ("visible", "hidden", "gpu").index(one.suite)))


def visible_rng(module: str, test: str) -> np.random.Generator:
    """Return the random numbers of a visible check, the same in every clone and bundle."""
    return np.random.default_rng(seed_of(PUBLIC_SALT, module, check_name(test)))

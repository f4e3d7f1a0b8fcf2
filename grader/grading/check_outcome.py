"""The outcome of a check: who caused a failure, and what the student and the instructor may read about it."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.core.errors import StudentError, StudentGoneError, StudentRaisedError
from grader.core.report import CheckOutcome, CheckResult, EndingRecord
from grader.core.safe_text import printable
from grader.grading.checks import Check
from grader.sandbox.protocol.device_findings import DeviceCall

GRADERS_FAULT = "a fault of the grader, not of your code"
FAULT_LINES = 8
MAX_LISTED = 5
_EXPRESSION = re.compile(r"(?<=.)\nassert .*", re.DOTALL)


@dataclass(frozen=True)
class CheckResults:
    """The results of all checks of a suite for one submission."""

    checks: tuple[CheckResult, ...]
    endings: tuple[EndingRecord, ...]

    @property
    def ended(self) -> frozenset[str]:
        """The targets that ended their process."""
        during = {ending.during for ending in self.endings}
        return frozenset(check.target for check in self.checks if check.name in during)

    @property
    def not_worth_measuring(self) -> frozenset[str]:
        """The targets whose costs mean nothing: they ended their process, or pass no check."""
        passing = {check.target for check in self.checks if check.outcome == "passed"}
        return self.ended | {check.target for check in self.checks} - passing


def judge_check(check: Check, problem: BaseException | None, device_calls: Sequence[DeviceCall] = ()) -> CheckResult:
    """Return the result of a check that raised `problem`, or that passed if `problem` is None."""
    if problem is None:
        undecided = why_undecided(device_calls)
        return replace(result_of(check, "passed", "", ""), earned=check.points, undecided=undecided)
    if isinstance(problem, _of_pytest("skip")):
        text = f"not run: {problem}"
        return result_of(check, "not_run", text, text)
    if isinstance(problem, StudentGoneError):
        return result_of(check, "not_run", f"not run: {problem.public}", str(problem))
    if is_students_failure(problem):
        result = result_of(check, "failed", _public(check, problem), _detail(problem))
        return replace(result, asserted=not isinstance(problem, StudentError))
    where = "".join(traceback.format_exception(problem)[-FAULT_LINES:])
    fault = f"the check itself failed with {type(problem).__name__}: {problem}\n{where}"
    result = result_of(check, "grader_fault", GRADERS_FAULT, fault)
    return replace(result, earned=None)


def why_undecided(calls: Sequence[DeviceCall]) -> str:
    """Say what the simulated GPU could not follow in the calls of a check that passed; empty if there is nothing."""
    found = dict.fromkeys((one.line, one.what) for call in calls for one in call.unwatched)
    said = [f"line {line}: {what}" if line else what for line, what in found]
    return f"An instructor must check. On the simulated GPU, {'; '.join(said[:MAX_LISTED])}." if said else ""


def is_students_failure(problem: BaseException) -> bool:
    """Whether an exception out of a check is the student's failure; any other is the grader's fault."""
    if isinstance(problem, BaseExceptionGroup):  # Hypothesis reports several failures at once like this
        return all(is_students_failure(part) for part in problem.exceptions)
    return isinstance(problem, (AssertionError, StudentError, *_of_pytest("fail")))


def _of_pytest(name: str) -> tuple[type[BaseException], ...]:
    """Return the exceptions of pytest's `skip` or `fail`; none if pytest is not loaded."""
    pytest = sys.modules.get("pytest")
    return () if pytest is None else (getattr(pytest, name).Exception,)


def could_be_contaminated(problem: BaseException) -> bool:
    """Whether a function that ran earlier in the same process could have caused a student's failure."""
    unwritten = isinstance(problem, StudentRaisedError) and problem.types[0] == "NotImplementedError"
    return is_students_failure(problem) and not unwritten


def _public(check: Check, problem: BaseException) -> str:
    """Return what the student may read. For a hidden check, this is no text that student code could have written."""
    if check.suite == "visible":
        return _message(problem)
    if isinstance(problem, StudentError):
        return f"not true for your code: {check.property} ({problem.public})"
    return f"not true for your code: {check.property}"


def _message(problem: BaseException) -> str:
    """Return the message of an assertion, without the expression that pytest adds to it."""
    return _EXPRESSION.sub("", str(problem)) or str(problem)


def _detail(problem: BaseException) -> str:
    parts = [_message(problem)]
    if isinstance(problem, StudentRaisedError):
        parts.append(problem.traceback)
    if isinstance(problem, StudentError) and problem.ending is not None:
        parts.append(f"{problem.ending.kind}: {problem.ending.evidence}")
    return "\n".join(part for part in parts if part)


def result_of(check: Check, outcome: CheckOutcome, message: str, detail: str) -> CheckResult:
    """Return a check's result with nothing earned. Every text in it is made printable here."""
    return CheckResult(
        name=check.name,
        suite=check.suite,
        target=check.target,
        points=check.points,
        earned=0.0,
        outcome=outcome,
        property=check.property,
        message=printable(message),
        detail=printable(detail),
    )

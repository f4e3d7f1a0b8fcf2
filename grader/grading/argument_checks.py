"""The checks that the engine makes itself: each function leaves its arguments as they were.

Every call of every check is watched, so the answer is known when all checks have run. A function that changes an
argument fails one check, however often it happens, and the checks in which it happened do not fail for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from grader.core.report import CheckResult, SuiteName
from grader.course.api import REFLECT, Api
from grader.course.module import Module, module_error
from grader.grading.check_outcome import result_of
from grader.grading.checks import Check
from grader.sandbox.session_record import CallRecord, Change

FIX = "Work on a copy"


def argument_check(target: str, points: float, suite: SuiteName) -> Check:
    """Return the check that one function or class leaves its arguments as they were."""
    text = f"{target} leaves its arguments as they were"
    return Check(f"{target}_leaves_its_arguments", suite, target, points, text, None, oracle=False)


def argument_checks(module: Module, api: Api, checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the checks that `unchanged` in `module.toml` gives points to, next to the author's own checks."""
    found = tuple(argument_check(target, points, "hidden") for target, points in module.unchanged.items())
    targets = [target for target in api.targets if target != REFLECT]
    for check in found:
        key = f"unchanged.{check.target}"
        if check.target not in targets:
            raise module_error(module.folder, key, "is not a target", f"The targets are {', '.join(targets)}")
        if check.name in {other.name for other in checks}:
            raise module_error(module.folder, key, f"makes a second check {check.name}", "Rename the other one")
    return found


def judge_arguments(
    declared: Sequence[Check],
    calls: CallRecord,
    results: Sequence[CheckResult],
    checks: Sequence[Check],
    api: Api,
    known: Collection[str] = (),
) -> list[CheckResult]:
    """Return the results of the engine's own checks, when all other checks have run.

    A change by a function without points is shown, too. A function earns nothing unless a call of it returned and one
    of its checks passes: code that does nothing changes nothing. `known` names the targets that are known to do that.
    """
    passing = {one.target for one in results if one.outcome == "passed"} & calls.returned | set(known)
    found: list[CheckResult] = []
    for check in declared:
        if check.target in calls.changes:
            found.append(_changed(check, calls.changes[check.target], checks, api))
        elif check.target in passing:
            found.append(replace(result_of(check, "passed", "", ""), earned=check.points))
        else:
            text = f"held back until another check of {check.target} passes"
            found.append(result_of(check, "held_back", text, text))
    suite: SuiteName = "visible" if all(check.suite == "visible" for check in checks) else "hidden"
    others = [argument_check(target, 0.0, suite) for target in sorted(calls.changes)]
    told = {check.target for check in declared}
    return found + [_changed(one, calls.changes[one.target], checks, api) for one in others if one.target not in told]


def change_text(change: Change, api: Api) -> str:
    """Return which argument was changed by a call of which function. No value of the call is in it."""
    owner, _, method = change.call.partition(".")
    call = f"{owner}.forward" if method == "__call__" and "forward" in api.classes.get(owner, ()) else change.call
    return f"{call} changed {api.argument(call, change.argument)}"


def _changed(check: Check, change: Change, checks: Sequence[Check], api: Api) -> CheckResult:
    text = change_text(change, api)
    during = next((one for one in checks if one.name == change.check), None)
    public = f"{text}. {FIX}."
    if during is not None and during.suite == "visible":
        public = f"{text}, in the check: {during.property}. {FIX}."
    if check.suite != "visible":
        public = f"not true for your code: {check.property} ({public})"
    result = result_of(check, "failed", public, f"{text}, in the check {change.check}")
    return replace(result, asserted=True)

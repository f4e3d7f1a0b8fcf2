"""The rules of a sound module: each is a function from the evidence to the problems it finds."""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.authoring.evidence import ModuleEvidence
from grader.authoring.misconceptions import Misconception
from grader.core.compare import shape_of
from grader.core.report import CheckResult, EndingRecord, Report
from grader.course.api import REFLECT
from grader.diagnosis.findings import diagnosed_names
from grader.diagnosis.probe import Probe
from grader.grading.argument_checks import argument_check

VISIBLE_SHARE = 0.20
REFLECT_SHARE = 0.10
DTYPE_SHARE = 0.05
COST_SHARE = 0.20


@dataclass(frozen=True)
class Problem:
    """One reason why a module is not sound, and how to fix it."""

    what: str
    fix: str


def stub_scores_nothing(evidence: ModuleEvidence) -> Iterator[Problem]:
    """The untouched stub passes no check."""
    for check in evidence.stub.checks:
        if check.outcome == "passed":
            fix = "Make the check call what it examines, or remove it"
            yield Problem(f"the untouched stub passes {check.name}", fix)
    for cost in evidence.stub.costs:
        if cost.earned:
            fix = "Choose arguments for its contract that reach the code to be written"
            yield Problem(f"the untouched stub earns points for the {cost.meter} of {cost.function}", fix)


def reference_scores_everything(evidence: ModuleEvidence) -> Iterator[Problem]:
    """The solution passes every check."""
    if evidence.reference.message:
        yield Problem(f"the solution: {evidence.reference.message}", "Fix the solution")
    for check in _not_passed(evidence.reference):
        yield _too_slow(evidence.reference, check) or Problem(
            f"the solution fails {check.name}: {_first_line(check)}", "Fix the solution or the check"
        )
    for report in (evidence.reference, *evidence.reference_again):
        for cost in report.costs:
            if cost.verdict != "pass":
                what = f"the solution breaks the contract of {cost.function}: {cost.meter} {cost.measured}"
                yield Problem(f"{what} against {cost.law} ({cost.message})", "Fix the solution or the limit")
    for call in evidence.reference.forbidden:
        yield Problem(f"the solution calls {call.call}, which is forbidden", "Fix the solution or the rule")


def misconceptions_are_caught(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every known wrong way fails two checks, one of them a property; if its values are right, one check."""
    if not evidence.misconceptions:
        yield Problem("there are no misconceptions", "Add at least one known wrong way")
    for wrong, report in evidence.misconceptions:
        yield from _caught(evidence, wrong, report)


def _caught(evidence: ModuleEvidence, wrong: Misconception, report: Report) -> Iterator[Problem]:
    oracles = {check.name for check in evidence.checks if check.oracle}
    failed = [
        check for check in report.checks if check.outcome == "failed"
    ]  # a check that was held back caught nothing
    by_property = [check.name for check in failed if check.name not in oracles]
    name = f"the misconception {wrong.name}"
    if wrong.costly:
        yield from _too_expensive(wrong, report)
    elif report.status != "graded":
        yield Problem(f"{name} could not be graded: {report.message}", "Fix its code")
    elif not failed:
        yield Problem(f"{name} gets full marks: no check catches it", "Write a check that fails for it")
    elif _ends_otherwise(wrong, failed):
        yield _other_ending(wrong, failed)
    elif wrong.values_right:
        if len(by_property) < len(failed):
            yield Problem(f"{name} says VALUES_RIGHT, but fails an oracle comparison", "Remove that line")
    elif not by_property:
        fix = "Write a check of a property it breaks"
        names = ", ".join(check.name for check in failed)
        yield Problem(f"{name} is caught only by oracle comparisons: {names}", fix)
    elif len(failed) < 2:
        yield Problem(f"{name} is caught by one check only: {failed[0].name}", "Write a second check that fails for it")


def _ends_otherwise(wrong: Misconception, failed: Sequence[CheckResult]) -> bool:
    """Whether a wrong way only raises, and does not say so, or says so and returns a wrong result."""
    if wrong.raises:
        return any(check.asserted for check in failed)
    return not any(check.asserted or _refused(check) for check in failed)


def _other_ending(wrong: Misconception, failed: Sequence[CheckResult]) -> Problem:
    """Return the problem of a wrong way that only raises, or of one that says so and does not."""
    name = f"the misconception {wrong.name}"
    if wrong.raises:
        return Problem(f"{name} says RAISES, but returns a wrong result, too", "Remove that line")
    raised = f"it only raises: {_first_line(failed[0])}"
    return Problem(f"{name} never returns a wrong result, {raised}", "Fix its code, or add RAISES = True if that is it")


def _too_expensive(wrong: Misconception, report: Report) -> Iterator[Problem]:
    name = f"the misconception {wrong.name}"
    for check in _not_passed(report):
        yield Problem(f"{name} says COSTLY, but fails {check.name}", "Fix its code, or remove that line")
    if not any(cost.verdict == "fail" for cost in report.costs):
        yield Problem(f"{name} says COSTLY, but breaks no contract", "Fix its code, or lower the limit")


def every_misconception_is_named(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every known wrong way is diagnosed as itself, and as nothing else."""
    prints = evidence.fingerprints.prints
    for way in prints.ways:
        names = diagnosed_names(prints, way)
        if names != [way.name]:
            verdict = f"is diagnosed as {', '.join(names)}" if names else "is not diagnosed"
            yield Problem(f"the misconception {way.name} {verdict}", "Add a probe that tells it apart from the others")


def every_function_has_hints(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every function and method has hints."""
    methods = {f"{name}.{method}" for name, found in evidence.api.classes.items() for method in found}
    wanted = {*evidence.api.functions, *methods}
    for name in sorted(wanted - evidence.hints.keys()):
        yield Problem(f"there are no hints for {name}", "Write its nudge, pointer and worked step into hints.toml")
    for name in sorted(evidence.hints.keys() - wanted):
        yield Problem(f"hints.toml has hints for {name}, which is not asked for", "Remove them")


def every_limit_can_fail(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every limit has a known way to break it, or its contract says why there is none."""
    broken = {
        (function, cost.meter)
        for measured in evidence.wrong_costs.values()
        for function, one in measured.items()
        for cost in one.profile.costs
        if cost.breaks_limit
    }
    forbidden = {name for measured in evidence.wrong_costs.values() for name, one in measured.items() if one.forbidden}
    for contract in (one.profile.contract for one in evidence.function_costs):
        function, meters = contract.function, [limit.meter for limit in contract.limits]
        if not any((function, meter) in broken for meter in meters) and function not in forbidden:
            fix = "Add a misconception with COSTLY = True: right values at too high a cost"
            yield Problem(f"nothing breaks the contract of {function}", fix)
            continue
        for meter in meters:
            is_broken, is_marked = (function, meter) in broken, meter in contract.unguarded
            if not is_broken and not is_marked:
                fix = f'Add a costly misconception that does, or say why none does: unguarded = {{{meter} = "..."}}'
                yield Problem(f"no misconception breaks the limit on the {meter} of {function}", fix)
            if is_broken and is_marked:
                what = f"the limit on the {meter} of {function} is marked as unguarded, but a misconception breaks it"
                yield Problem(what, f"Remove {meter} from unguarded")


def every_check_can_fail(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every check fails a wrong way by an assertion or a refusal. Other errors do not count: they fail any check."""
    checks = [check for _, report in evidence.misconceptions for check in report.checks if check.outcome == "failed"]
    failing = {check.name for check in checks if check.asserted or _refused(check)}
    for check in evidence.checks:
        if check.name not in failing:
            fix = "Make it assert something, or add a misconception that it catches"
            yield Problem(f"{check.name} fails for no misconception", fix)


def everything_is_examined(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every function and class has hidden points, and every constant a known wrong answer."""
    hidden = {check.target for check in evidence.checks if check.suite == "hidden"}
    for target in evidence.api.targets:
        if target not in hidden:
            yield Problem(f"no hidden check examines {target}", f'Write one, with target="{target}"')
    answered = {name for wrong, _ in evidence.misconceptions for name in wrong.defines}
    for name in evidence.api.constants:
        if name not in answered:
            yield Problem(f"no misconception gives a wrong answer for {name}", "Add one that a student could give")


def changes_cost_points(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Every function that gets something it could change has points for leaving it as it was."""
    watched = {
        check.target for check in evidence.checks if check.name == argument_check(check.target, 0, "hidden").name
    }
    for target in dict.fromkeys(probe.target for probe in evidence.fingerprints.prints.probes if _can_change(probe)):
        if target not in watched:
            fix = f"Write unchanged = {{{target} = 1}} into module.toml"
            yield Problem(f"{target} can change its arguments at no cost", fix)


def _can_change(probe: Probe) -> bool:
    return any(type(arg) in (list, dict) or shape_of(arg) is not None for arg in probe.given)


def random_inputs_do_not_matter(evidence: ModuleEvidence) -> Iterator[Problem]:
    """The solution passes with any random inputs."""
    for report in evidence.reference_again:
        for check in _not_passed(report):
            what = f"the solution fails {check.name} with other random inputs: {_first_line(check)}"
            fix = "Use only `rng` for random numbers, and assert only what is always true"
            yield _too_slow(report, check) or Problem(what, fix)


def no_check_crashes(evidence: ModuleEvidence) -> Iterator[Problem]:
    """No strange result makes a check raise anything but an AssertionError."""
    reports = [evidence.stub, evidence.reference, *evidence.liars, *(report for _, report in evidence.misconceptions)]
    seen: set[str] = set()
    for report in reports:
        for check in report.checks:
            if check.outcome == "grader_fault" and check.name not in seen:
                seen.add(check.name)
                fix = "Pass the result to an assertion of grader.testing first"
                yield Problem(f"{check.name} crashes for {report.submission}: {_first_line(check)}", fix)


def strange_results_score_low(evidence: ModuleEvidence) -> Iterator[Problem]:
    """A student who returns one strange value for everything gets at most half the points."""
    for report in evidence.liars:
        if report.score is not None and report.score > report.max_score / 2:
            yield Problem(f"{report.submission} gets {report.score:g} points", "Make the checks look at the result")


def points_are_divided_fairly(evidence: ModuleEvidence) -> Iterator[Problem]:
    """Costs, visible checks, reflection and dtype checks are worth no more than their share."""
    costs = sum(cost.points for cost in evidence.reference.costs)
    total = sum(check.points for check in evidence.checks) + costs
    yield from _at_most("the costs", costs, COST_SHARE, total)
    by_target: dict[str, float] = defaultdict(float)
    for check in evidence.checks:
        by_target[check.target] += check.points
    visible = sum(check.points for check in evidence.checks if check.suite == "visible")
    yield from _at_most("the visible checks", visible, VISIBLE_SHARE, total)
    yield from _at_most("reflect", by_target[REFLECT], REFLECT_SHARE, total)
    for check in evidence.checks:
        if check.name.endswith("dtype"):
            yield from _at_most(check.name, check.points, DTYPE_SHARE, by_target[check.target])


def fallbacks_stand_in(evidence: ModuleEvidence) -> Iterator[Problem]:
    """A fallback is right, the solution loses nothing on it, and it does not give the earlier module away."""
    for one in evidence.fallbacks:
        failed = [check for check in _not_passed(one.own) if check.target != REFLECT]
        lost = list(_lost(one.solution))
        if failed:
            what = f"{one.file} fails {_counted(len(failed), 'check')} of {one.module}, {failed[0].name} first"
            yield Problem(f"{what}: {_first_line(failed[0])}", "Fix the fallback")
        elif lost:
            what = f"the solution loses points in {_counted(len(lost), 'place')} on {one.file}, {lost[0]} first"
            yield Problem(what, "Fix the fallback, or the check")
        elif not one.own.forbidden and all(cost.verdict == "pass" for cost in one.own.costs):
            what = f"{one.file} would get full marks in {one.module}, so it gives its solution away"
            yield Problem(what, f"Build it on something that {one.module} forbids, or make it expensive")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _lost(report: Report) -> Iterator[str]:
    """Yield what a report does not have full marks for."""
    if report.message:
        yield report.message
    yield from (f"{check.name} ({_first_line(check)})" for check in _not_passed(report) if not report.message)
    yield from (f"{cost.meter} of {cost.function} ({cost.message})" for cost in report.costs if cost.verdict != "pass")
    yield from (f"it calls {call.call}, which is forbidden" for call in report.forbidden)


RULES = (
    stub_scores_nothing,
    reference_scores_everything,
    misconceptions_are_caught,
    every_check_can_fail,
    every_limit_can_fail,
    every_misconception_is_named,
    every_function_has_hints,
    everything_is_examined,
    changes_cost_points,
    random_inputs_do_not_matter,
    no_check_crashes,
    strange_results_score_low,
    points_are_divided_fairly,
    fallbacks_stand_in,
)


def _at_most(name: str, points: float, share: float, total: float) -> Iterator[Problem]:
    if points > share * total + 1e-9:
        yield Problem(f"{name}: worth {points:g} of {total:g}, more than {share:.0%}", "Divide the points differently")


def _not_passed(report: Report) -> list[CheckResult]:
    return [check for check in report.checks if check.outcome != "passed"]


def _too_slow(report: Report, check: CheckResult) -> Problem | None:
    """Return the problem of a check whose call took too long; None if it failed for another reason."""
    if EndingRecord("deadline", check.name) not in [EndingRecord(one.kind, one.during) for one in report.endings]:
        return None
    fix = "Make its input smaller, or give it time: @worth(..., cpu_s=30), or limits = {cpu_s = 30} in module.toml"
    return Problem(f"the solution takes too long in {check.name}: {_first_line(check)}", fix)


def _refused(check: CheckResult) -> bool:
    """Whether the student's code raised a ValueError: refusing a right input is a belief, and not broken code."""
    found = re.search(r" raised (\w+)", _first_line(check))
    kind = getattr(builtins, found[1], None) if found else None
    return isinstance(kind, type) and issubclass(kind, ValueError)


def _first_line(check: CheckResult) -> str:
    return (check.detail or check.message).partition("\n")[0]

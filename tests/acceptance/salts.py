"""Outcomes under many salts: no verdict may depend on the random inputs that a course happens to have.

`python -m tests.acceptance.salts 04_masks --salts 20` grades a module's solution, its right solutions in tests/data/,
its submissions in examples/class/ and all its misconceptions under 20 salts. It prints each check and each cost whose
outcome is not the same under all of them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from grader.authoring.misconceptions import Misconception, as_submission, read_misconceptions
from grader.authoring.proof import Proof, read_proof
from grader.authoring.reach import Reach
from grader.authoring.trials import TrialRoom, in_trial_room
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Module, read_text
from grader.grading.grade import full_suite
from grader.grading.workers import Workers
from grader.submission.finder import find_submissions
from grader.submission.submission import Submission
from tests.cases import cases
from tests.conftest import ROOT, end_shared_workers, shared_workers
from tests.quick import sampled
from tests.submissions import submission_of

Outcomes = Mapping[str, str]  # by the name of a check, or by a function and its meter
Tell = Callable[[str], None]
Named = Sequence[tuple[str, Submission]]
STATUS = "status"
# These are wrong by so little, or only for scores so large, that the numbers of a salt decide which checks see it.
# Under every salt, some check must.
SEEN_BY_SOME = {
    "01_softmax": {"clips_scores", "clips_scores_at_500", "rounded_to_2_decimals", "rounded_to_4_decimals"},
    "03_attention": {"weights_rounded"},
}


@dataclass(frozen=True)
class Difference:
    """A check or cost that does not have the same outcome for one submission under every salt."""

    submission: str
    check: str
    salts: Mapping[str, tuple[str, ...]]  # by outcome

    def __str__(self) -> str:
        seen = "; ".join(f"{outcome} under {', '.join(salts)}" for outcome, salts in sorted(self.salts.items()))
        return f"{self.submission}: {self.check}: {seen}"


def fixed_salts(count: int) -> list[str]:
    """Return some salts, the same ones every time."""
    return [f"salt-{number}" for number in range(1, count + 1)]


def differences(
    course: Course, module: Module, salts: Sequence[str], *, costs: bool = True, tell: Tell = lambda _: None
) -> list[Difference]:
    """Grade everything with a known verdict under each salt, and return what is not the same under all of them."""
    found: dict[str, dict[str, Outcomes]] = {}
    right = [*right_solutions(course, module).items(), *class_members(course, module).items()]
    ways = read_misconceptions(course, module)
    workers = shared_workers(module.backend)
    for salt in salts:
        tell(salt)
        found[salt] = _outcomes_under(salt, course, module, workers, right, ways, costs)
    return compared(found, SEEN_BY_SOME.get(module.name, ()))


def differences_from_proof(course: Course, module: Module, salts: Sequence[str], every: int = 1) -> list[Difference]:
    """Grade misconceptions, each under one of the salts, which take turns; return what the proof says otherwise."""
    proof = read_proof(course, module)
    assert proof is not None, f"{module.name} was not proved"
    ways = sampled(read_misconceptions(course, module), every, lambda way: way.code)
    found: dict[str, dict[str, Outcomes]] = {}
    workers = shared_workers(module.backend)
    for number, salt in enumerate(salts):
        some = ways[number :: len(salts)]
        found[salt] = _outcomes_under(salt, course, module, workers, (), some, costs=False)
    proved = {"the course's own salt": _proved(proof, found.values())}
    return compared({**found, **proved}, SEEN_BY_SOME.get(module.name, ()))


def _proved(proof: Proof, found: Iterable[Mapping[str, Outcomes]]) -> dict[str, Outcomes]:
    """Return the outcomes in a proof of the checks that were graded again."""
    return {
        way: {check: proof.not_passed[way].get(check, "passed") for check in outcomes if check != STATUS}
        for submissions in found
        for way, outcomes in submissions.items()
        if way in proof.not_passed
    }


def compared(found: Mapping[str, Mapping[str, Outcomes]], seen_by_some: Collection[str] = ()) -> list[Difference]:
    """Compare outcomes by salt, submission and check; of some submissions, only whether any check fails."""
    seen: defaultdict[tuple[str, str], defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for salt, submissions in found.items():
        for submission, outcomes in submissions.items():
            for check, outcome in (_any_failed(outcomes) if submission in seen_by_some else outcomes).items():
                seen[submission, check][outcome].append(salt)
    return [
        Difference(submission, check, {outcome: tuple(salts) for outcome, salts in by_outcome.items()})
        for (submission, check), by_outcome in seen.items()
        if len(by_outcome) > 1
    ]


def _any_failed(outcomes: Outcomes) -> Outcomes:
    return {"any check": "failed" if "failed" in outcomes.values() else "none failed"}


def outcomes_of(report: Report) -> Outcomes:
    """Return what a report says of each check and cost."""
    outcomes: dict[str, str] = {check.name: check.outcome for check in report.checks}
    outcomes |= {f"{cost.function}, {cost.meter}": cost.verdict for cost in report.costs}
    return {**outcomes, STATUS: report.status}


def _outcomes_under(
    salt: str,
    course: Course,
    module: Module,
    workers: Workers,
    submissions: Named,
    ways: Sequence[Misconception],
    costs: bool,
) -> dict[str, Outcomes]:
    suite = replace(full_suite(course, module), salt=salt, diagnosed=False, measured=costs)
    found: dict[str, Outcomes] = {}
    reach = Reach(read_text(course.solution(module)))
    in_trial_room(suite, workers, reach, lambda room: found.update(_graded(course, module, submissions, ways, room)))
    return found


def _graded(
    course: Course, module: Module, submissions: Named, ways: Sequence[Misconception], room: TrialRoom
) -> dict[str, Outcomes]:
    """Grade everything under the salt of the room. Costs are measured where they decide: they take most of the time."""
    reference = room.reference(submission_of(course, module, read_text(course.solution(module))))
    lost = [check.name for check in reference.report.checks if check.outcome != "passed"]
    assert not lost, f"the solution does not pass {lost}"  # a check that fails for everyone has one outcome, too
    found = {"the solution": outcomes_of(reference.report)}
    for name, submission in submissions:
        found[name] = outcomes_of(room.measured(submission))
    for way in ways:
        submission, changed = as_submission(course, module, way), room.reach.changed_by(way.code)
        if way.costly:
            report, _ = room.costly(submission, changed, reference)
        else:
            report = room.wrong(submission, changed, reference)
        found[way.name] = outcomes_of(report)
    return found


def right_solutions(course: Course, module: Module) -> dict[str, Submission]:
    """Return the right solutions of tests/data/."""
    found = cases("right", module.name)
    return {f"right/{case.name}": submission_of(course, module, case.code) for case in found}


def class_members(course: Course, module: Module) -> dict[str, Submission]:
    """Return the submissions of the example class for this module."""
    found = find_submissions(course, [ROOT / "examples" / "class"]).submissions
    return {f"class/{one.student}": one for one in found if one.module == module.name}


@click.command()
@click.argument("name", metavar="MODULE")
@click.option("--salts", "count", default=8, show_default=True, help="How many salts to try.")
@click.option("--no-costs", is_flag=True, help="Only checks: costs take most of the time.")
def main(name: str, count: int, no_costs: bool) -> None:
    """Print the checks and costs of MODULE whose outcome depends on the salt."""
    course = read_course(ROOT)
    module = course.module(name)
    found = differences(
        course, module, fixed_salts(count), costs=not no_costs, tell=lambda salt: click.echo(salt, err=True)
    )
    end_shared_workers()
    for one in found:
        click.echo(one)
    ways = len({one.submission for one in found})
    click.echo(f"{module.name}: {len(found)} differences in {ways} submissions under {count} salts")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

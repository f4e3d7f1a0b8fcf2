"""The fingerprints of a module, learned from its solution and its known wrong ways."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.authoring.misconceptions import Misconception
from grader.authoring.reach import Reach
from grader.complexity.measurer import FunctionCosts
from grader.core.compare import describe
from grader.core.errors import StudentError
from grader.course.module import CourseError
from grader.diagnosis.cost_growth import growth
from grader.diagnosis.fingerprints import Fingerprints, answer_data, fingerprint_data, is_kept, ways_of
from grader.diagnosis.likely_line import telling_words
from grader.diagnosis.observe import observe, observe_constants
from grader.diagnosis.outcome import ProbeOutcome
from grader.diagnosis.probe import Probe, read_probes
from grader.grading.load_student import load, program_of
from grader.grading.suite import Suite
from grader.sandbox.session import Program, Session
from grader.submission.submission import Submission

OpenSession = Callable[[Program], Session]


@dataclass(frozen=True)
class Fingerprinting:
    """The part of a golden file that diagnosis is made from, as plain data."""

    table: list[list[dict[str, Any]]]
    ways: Mapping[str, dict[str, Any]]
    prints: Fingerprints
    answers: Mapping[str, Any]  # of the solution


@dataclass(frozen=True)
class Observation:
    """The outcome of each probe on one submission, by number, and its answers under Reflect."""

    outcomes: Mapping[int, ProbeOutcome]
    answers: Mapping[str, Any]

    def without_causes(self) -> Observation:
        """Return it as that of the reference: another right solution may raise in its own words."""
        return replace(self, outcomes={number: replace(one, cause="") for number, one in self.outcomes.items()})


def learn_fingerprints(
    suite: Suite,
    open_session: OpenSession,
    solution: Submission,
    wrong: Mapping[Misconception, Submission],
    costs: Mapping[str, Mapping[str, FunctionCosts]],
) -> Fingerprinting:
    """Run a module's probes on its solution and on every wrong way; `costs` are those of the costly ones."""
    probes = read_probes(suite.module, suite.api)
    text = "\n".join(solution.sources[suite.module.slug].cells)
    runner = ProbeRunner(suite, open_session, probes)
    reference = runner.of(solution).without_causes()
    if len(reference.outcomes) < len(probes):
        problem = "the solution cannot be loaded, or a probe ends its process"
        raise CourseError(suite.module.probes, "", problem, "Fix the solution, or make the probe smaller")
    for number, outcome in reference.outcomes.items():
        if outcome.in_step and outcome.raised:
            problem = f"a step before it raises {outcome.raised.type} for the solution"
            raise CourseError(suite.module.probes, probes[number].path, problem, "Fix the arguments of its steps")
        if outcome.ended == "returned" and not is_kept(outcome):
            problem = f"a golden file cannot keep its result, {describe(outcome.value)}"
            raise CourseError(
                suite.module.probes, probes[number].path, problem, "Make it smaller, or reduce it with look="
            )
    reach = Reach(text)
    found = {
        one.name: runner.of_variant(submission, reach, reach.changed_by(one.code), reference)
        for one, submission in wrong.items()
        if not one.costly
    }
    table, behaves = fingerprint_data(
        probes, reference.outcomes, {name: observed.outcomes for name, observed in found.items()}
    )
    ways: dict[str, dict[str, Any]] = {
        one.name: {"likely": one.likely, "hint": one.hint, "look": telling_words(one.code, text)} for one in wrong
    }
    for name, observed in found.items():
        given = answer_data(suite.api.constants, reference.answers, observed.answers)
        ways[name] |= {"behaves": behaves[name], "answers": given}
    for name, measured in costs.items():
        grown = ((function, growth(one)) for function, one in measured.items())
        # The first that is too expensive has the mistake. Others may only call it, and what they show may depend on the
        # secret sizes.
        ways[name] |= {"grows": dict(next(([one] for one in grown if one[1]), []))}
    prints = Fingerprints(suite.api, probes, tuple(map(tuple, table)), ways_of(ways))
    return Fingerprinting(table, ways, prints, reference.answers)


@dataclass(frozen=True)
class ProbeRunner:
    """Runs the probes of a module on one submission after another."""

    suite: Suite
    open_session: OpenSession
    probes: tuple[Probe, ...]

    def of(self, submission: Submission, only: Collection[int] | None = None) -> Observation:
        """Run all probes, or only those of some numbers; a submission that cannot be loaded has no outcomes."""
        numbers = [number for number in range(len(self.probes)) if only is None or number in only]
        session = self.open_session(program_of(submission, self.suite.module, self.suite.api))
        try:
            load(session, self.suite.module)
            outcomes = observe(session, [self.probes[number] for number in numbers])
            answers = observe_constants(session, self.suite.api.constants)
            return Observation({numbers[place]: outcome for place, outcome in outcomes.items()}, answers)
        except StudentError:
            return Observation({}, {})
        finally:
            session.close()

    def of_variant(
        self, submission: Submission, reach: Reach, changed: frozenset[str], reference: Observation
    ) -> Observation:
        """Run the probes that reach a changed definition; the others end as they do for the solution."""
        reached = {uses: reach.from_names(uses) for uses in {probe.uses for probe in self.probes}}
        affected = {number for number, probe in enumerate(self.probes) if changed & reached[probe.uses]}
        observed = self.of(submission, affected)
        if not observed.outcomes and not observed.answers:
            return observed
        others = {number: one for number, one in reference.outcomes.items() if number not in affected}
        return Observation(dict(sorted({**others, **observed.outcomes}.items())), observed.answers)

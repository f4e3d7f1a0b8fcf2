"""Learning: the fingerprints of a module, from its solution and its known wrong ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.authoring.misconceptions import Misconception
from grader.core.errors import StudentError
from grader.course.module import CourseError
from grader.diagnosis.cost_growth import growth
from grader.diagnosis.fingerprints import Fingerprints, answer_data, fingerprint_data, ways_of
from grader.diagnosis.likely_line import telling_words
from grader.diagnosis.observe import observe, observe_constants
from grader.diagnosis.outcome import ProbeOutcome
from grader.diagnosis.probe import Probe, read_probes
from grader.grading.load_student import load, program_of
from grader.grading.suite import Suite
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.session import Session
from grader.submission.submission import Submission


@dataclass(frozen=True)
class Fingerprinting:
    """The part of a golden file that diagnosis is made from, as plain data."""

    table: list[list[dict[str, Any]]]
    ways: Mapping[str, dict[str, Any]]
    prints: Fingerprints


def learn_fingerprints(suite: Suite, solution: Submission, wrong: Mapping[Misconception, Submission]) -> Fingerprinting:
    """Run a module's probes on its solution and on every wrong way of it."""
    probes = read_probes(suite.module, suite.api)
    text = "\n".join(solution.sources[suite.module.slug].cells)
    with open_spawner(suite.module.backend) as spawner:
        observer = ProbeRunner(suite, spawner, probes)
        reference, answers = observer.of(solution)
        found = {one.name: observer.of(submission) for one, submission in wrong.items() if not one.costly}
        grows = {one.name: observer.growth(submission) for one, submission in wrong.items() if one.costly}
    if len(reference) < len(probes):
        problem = "the solution cannot be loaded, or a probe ends its process"
        raise CourseError(suite.module.probes, "", problem, "Mend the solution, or make the probe smaller")
    table, behaves = fingerprint_data(probes, reference, {name: outcomes for name, (outcomes, _) in found.items()})
    ways: dict[str, dict[str, Any]] = {
        one.name: {"likely": one.likely, "hint": one.hint, "look": telling_words(one.code, text)} for one in wrong
    }
    for name, (_, given) in found.items():
        ways[name] |= {"behaves": behaves[name], "answers": answer_data(suite.api.constants, answers, given)}
    for name, grown in grows.items():
        ways[name] |= {"grows": grown}
    return Fingerprinting(table, ways, Fingerprints(suite.api, probes, tuple(map(tuple, table)), ways_of(ways)))


class ProbeRunner:
    """Runs the probes of a module on one submission after another."""

    def __init__(self, suite: Suite, spawner: Spawner, probes: tuple[Probe, ...]) -> None:
        self.suite = suite
        self.spawner = spawner
        self.probes = probes

    def of(self, submission: Submission) -> tuple[dict[int, ProbeOutcome], dict[str, Any]]:
        """Return what came of each probe, and the answers under Reflect; nothing of what cannot be loaded."""
        session = self.session(submission)
        try:
            load(session, self.suite.module)
            outcomes = observe(session, self.probes)
            return outcomes, observe_constants(session, self.suite.api.constants)
        except StudentError:
            return {}, {}
        finally:
            session.close()

    def growth(self, submission: Submission) -> dict[str, dict[str, str]]:
        measurer = self.suite.cost_measurer()
        if measurer is None:
            return {}
        session = self.session(submission)
        try:
            found = [growth(measurer.of(session, contract)) for contract in measurer.contracts]
            names = [contract.function for contract in measurer.contracts]
            return {name: grown for name, grown in zip(names, found, strict=True) if grown}
        finally:
            session.close()

    def session(self, submission: Submission) -> Session:
        return Session(self.spawner, program_of(submission, self.suite.module, self.suite.api), Limits())

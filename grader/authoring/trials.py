"""Trials: submissions with a known verdict, graded by a module's suite in one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.authoring.reach import Reach
from grader.authoring.trial_session import (
    CheckRecord,
    RecordingSession,
    SharedSession,
    SharedWorker,
    Skipped,
    SkippingSession,
)
from grader.complexity.contract import Contract
from grader.complexity.measurer import CostMeasurer, FunctionCosts
from grader.core.report import CheckResult, Report
from grader.grading.check_outcome import CheckResults
from grader.grading.checks import Check
from grader.grading.run_suite import run_suite
from grader.grading.submission_grading import GradingContext, SubmissionGrading
from grader.grading.suite import Judge, Result, Suite
from grader.grading.workers import Workers
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import PLAIN, Program, Session
from grader.sandbox.student import Student
from grader.submission.submission import Submission

NOTHING_SKIPPED = Skipped({}, ())
TellStep = Callable[[str], None]  # called with what is tried next


@dataclass(frozen=True)
class Reference:
    """The solution's report and costs, and what each check asked it for."""

    report: Report
    costs: dict[str, FunctionCosts]  # by function
    checks: Mapping[str, CheckRecord]  # empty if the solution does not pass, as nothing follows then


class TrialRoom:
    """Grades submissions by one suite. Only author's code comes here, so most of it may share one worker."""

    def __init__(self, suite: Suite, workers: Workers, checks: tuple[Check, ...], judge: Judge, reach: Reach) -> None:
        self._measurer = suite.cost_measurer()
        self._limits = Limits().with_cpu(suite.module.cpu_s)
        self._context = GradingContext(suite.module, suite.api, checks, judge, None, None, None, workers, self._limits)
        self._workers = workers
        self.checks = checks
        self.reach = reach
        self._shared = SharedWorker()

    def measured(self, submission: Submission) -> Report:
        """Grade a submission as `attn grade` does."""
        return self._run(SubmissionGrading(replace(self._context, cost_measurer=self._measurer), submission))

    def reference(self, solution: Submission) -> Reference:
        """Grade the solution as `attn grade` does, and note what each check asks it for."""
        kept = _KeptCosts.of_all(self._measurer)
        recorded = _Recorded(replace(self._context, cost_measurer=kept), solution)
        report = self._run(recorded)
        passed = all(check.outcome == "passed" for check in report.asked)
        return Reference(report, kept.found if kept else {}, recorded.sessions[-1].checks if passed else {})

    def wrong(self, submission: Submission, changed: frozenset[str], reference: Reference) -> Report:
        """Grade a changed solution by the checks that can notice; the others pass as they do for the solution."""
        skipped = self._skipped(changed, reference)
        context = replace(self._context, judge=_completed(self._context.judge, skipped, reference.report.checks))
        return self._run(_Shared(context, submission, skipped, self._shared))

    def costly(
        self, submission: Submission, changed: frozenset[str], reference: Reference
    ) -> tuple[Report, dict[str, FunctionCosts]]:
        """Grade a changed solution as `wrong` does, and measure the functions that the change can affect."""
        skipped = self._skipped(changed, reference)
        kept = _KeptCosts.of_all(self._measurer)
        if kept is not None and reference.checks:
            kept.found.update(
                (contract.function, reference.costs[contract.function])
                for contract in kept.contracts
                if not changed & self.reach.from_names(contract.reaches)
            )
        judge = _completed(self._context.judge, skipped, reference.report.checks)
        context = replace(self._context, judge=judge, cost_measurer=kept)
        return self._run(_Skipping(context, submission, skipped)), kept.found if kept else {}

    def session(self, program: Program) -> Session:
        """Return a session in the shared worker."""
        return SharedSession(self._workers.spawner, program, self._limits, PLAIN, NOTHING_SKIPPED, self._shared)

    def close(self) -> None:
        """End the shared worker."""
        self._shared.close()

    def _skipped(self, changed: frozenset[str], reference: Reference) -> Skipped:
        """Leave out the checks that reach nothing of what changed, unless they need one that does."""
        affected: set[str] = set()
        for check in self._context.checks:
            record = reference.checks.get(check.name)
            if record is None or check.needs in affected or changed & self.reach.from_names(record.asked):
                affected.add(check.name)
        return Skipped(reference.checks, affected)

    def _run(self, grading: SubmissionGrading) -> Report:
        return self._workers.run_with_retry(grading.run, grading.not_graded)


def in_trial_room(suite: Suite, workers: Workers, reach: Reach, work: Callable[[TrialRoom], Result]) -> Result:
    """Collect a suite once, and return the result of some work in a room where submissions are graded by it."""

    def body(checks: tuple[Check, ...], judge: Judge) -> Result:
        room = TrialRoom(suite, workers, checks, judge, reach)
        try:
            return work(room)
        finally:
            room.close()

    return run_suite(suite, body)


def _completed(judge: Judge, skipped: Skipped, known: Sequence[CheckResult]) -> Judge:
    """Return a judge that leaves out some checks, and takes their results as they are known."""

    def run(student: Student, only: object = None) -> CheckResults:
        del only
        results = judge(student, skipped.affected)
        found = {check.name: check for check in (*known, *results.checks)}
        return CheckResults(tuple(found[check.name] for check in known), results.endings)

    return run


@dataclass(frozen=True)
class _KeptCosts(CostMeasurer):
    """Measures each function once and keeps what it found."""

    found: dict[str, FunctionCosts] = field(default_factory=dict)

    @classmethod
    def of_all(cls, measurer: CostMeasurer | None) -> _KeptCosts | None:
        return None if measurer is None else cls(**vars(measurer))

    def of(self, session: Session, contract: Contract) -> FunctionCosts:
        if contract.function not in self.found:
            self.found[contract.function] = super().of(session, contract)
        return self.found[contract.function]


@dataclass(frozen=True)
class _Recorded(SubmissionGrading):
    sessions: list[RecordingSession] = field(default_factory=list)  # the last one graded it

    def _open(self, spawner: Spawner, program: Program) -> Session:
        self.sessions.append(RecordingSession(spawner, program, self.context.limits, self._options(program)))
        return self.sessions[-1]


@dataclass(frozen=True)
class _Skipping(SubmissionGrading):
    skipped: Skipped

    def _open(self, spawner: Spawner, program: Program) -> Session:
        return SkippingSession(spawner, program, self.context.limits, self._options(program), self.skipped)


@dataclass(frozen=True)
class _Shared(_Skipping):
    shared: SharedWorker

    def _open(self, spawner: Spawner, program: Program) -> Session:
        return SharedSession(spawner, program, self.context.limits, self._options(program), self.skipped, self.shared)

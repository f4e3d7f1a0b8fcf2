"""Grading: submissions of one module in, a report for each out."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.complexity.gpu_speed import as_timing
from grader.core.errors import Ending, StudentEndedError, StudentError, StudentRaisedError
from grader.core.report import CheckResult, CostResult, Diagnosis, EndingRecord, ForbiddenCall, Report, Status
from grader.core.safe_text import plain_name, printable
from grader.core.versions import environment, gpu_name
from grader.course.api import Api
from grader.course.course import Course
from grader.course.load_solution import load_reference
from grader.course.module import CourseError, Module
from grader.course.seeds import secret_salt
from grader.diagnosis.diagnose import Diagnoser
from grader.grading.check_outcome import FAULT, CheckResults, result_of
from grader.grading.checks import Check
from grader.grading.load_student import load, program_of, require_backend
from grader.grading.run_suite import run_suite
from grader.grading.suite import Judge, Suite
from grader.grading.workers import Workers
from grader.sandbox.jail.limits import GPU_LIMITS, Limits
from grader.sandbox.jail.spawner import Spawner, WorkerLostError, ZygoteSpawner
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.jail.view import view_for
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.session import IMPORT, Session
from grader.sandbox.student import Student
from grader.submission.submission import Submission, own_submission

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.cost import Cost
    from grader.complexity.gpu_memory import GpuMeasurer
    from grader.complexity.measurer import CostMeasurer, FunctionCosts


def grade(
    course: Course,
    module: Module,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    limits: Limits | None = None,
    *,
    allow_unjailed: bool = False,
    gpu: bool = False,
) -> None:
    """Grade submissions by a module's visible and hidden checks, giving out each report as it is done.

    With `gpu`, also by those that need one; without, they are in the report as not run. NoJailError where this machine
    gives no jail, unless that is allowed: they are other people's code.
    """
    require_hidden(course, module)
    suite = replace(full_suite(course, module), gpu=course.gpu_suite(module))
    run_grading(suite, submissions, on_report, limits, allow_unjailed=allow_unjailed, gpu=gpu)


def full_suite(course: Course, module: Module) -> Suite:
    """Return a module's visible and hidden checks, with its reference and the course's secret salt."""
    hidden = course.hidden_suite(module)
    if not hidden.is_file():
        fix = "Grading needs the full course; in a student's bundle there is `attn test`"
        raise CourseError(hidden, "", "is missing", fix, usage=course.is_bundle)
    reference = load_reference(course, module)
    return Suite(module, course.api(module), module.checks, hidden, secret_salt(course), reference)


def check_own_file(course: Course, module: Module, begun: ZygoteSpawner | None = None, case: str = "") -> Report:
    """Run the visible checks on the student's own file, with their other modules beside it."""
    reports: list[Report] = []
    check_own_files(course, module, [own_submission(course, module)], reports.append, begun, case)
    (report,) = reports
    return report


def check_own_files(
    course: Course,
    module: Module,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    begun: ZygoteSpawner | None = None,
    case: str = "",
) -> None:
    """Run the visible checks on one state of the student's file after another, as they come."""
    suite = Suite(module, course.api(module), module.checks, case=case)
    run_grading(suite, submissions, on_report, allow_unjailed=True, begun=begun)


def run_grading(
    suite: Suite,
    submissions: Iterable[Submission],
    on_report: Callable[[Report], None],
    limits: Limits | None = None,
    *,
    allow_unjailed: bool = False,
    begun: ZygoteSpawner | None = None,
    gpu: bool = False,
) -> None:
    """Grade submissions by the checks of any suite of a module; without a jail only one's own, if that is said."""
    require_backend(suite.module)
    cost_measurer = suite.cost_measurer()
    gpu_measurer = suite.gpu_measurer() if gpu and suite.measured and suite.module.gpu else None
    gpu = gpu and (gpu_measurer is not None or suite.gpu is not None)  # or there is nothing to do there
    diagnoser = Diagnoser(suite.module) if suite.diagnosed else None

    def body(checks: tuple[Check, ...], judge: Judge) -> None:
        for submission in submissions:
            measurers = (cost_measurer, gpu_measurer)
            how = (suite.module, suite.api, checks, judge, *measurers, diagnoser, spawning, limits or Limits())
            job = _Job(*how, submission)
            on_report(spawning.run_with_retry(job.run, job.not_graded))

    with Workers(suite.module, begun, allow_unjailed=allow_unjailed, gpu=gpu) as spawning:
        run_suite(suite, body)  # the zygote is at its imports while pytest collects


def measure_submission(suite: Suite, submission: Submission) -> tuple[FunctionCosts, ...]:
    """Measure one submission by every contract of its module, and return all that was found."""
    cost_measurer = suite.cost_measurer()
    if cost_measurer is None:
        return ()
    with open_spawner(suite.module.backend) as spawner:
        session = Session(spawner, program_of(submission, suite.module, suite.api), Limits())
        try:
            return tuple(cost_measurer.of(session, contract) for contract in cost_measurer.contracts)
        finally:
            session.close()


def require_hidden(course: Course, module: Module) -> None:
    """Say so where the course lies in a folder of Python's or the system's, which graded code has to see."""
    if view_for(module.backend).shows(course.root):
        fix = "Move the course to a folder of its own"
        raise CourseError(course.root, "", "lies among the libraries that graded code may read", fix)


@dataclass(frozen=True)
class _Job:
    """One submission to be graded, and the ways its report can come out."""

    module: Module
    api: Api
    checks: tuple[Check, ...]
    judge: Judge
    cost_measurer: CostMeasurer | None
    gpu_measurer: GpuMeasurer | None
    diagnoser: Diagnoser | None
    spawning: Workers
    limits: Limits
    submission: Submission

    def run(self, spawner: Spawner) -> Report:
        """Grade the submission; WorkerLostError if the machinery fails, anything else is in the report."""
        started = time.monotonic()
        program = program_of(self.submission, self.module, self.api)
        session = Session(spawner, program, self.limits)
        if self.spawning.gpu_spawner is not None:
            session.gpu = Session(self.spawning.gpu_spawner, program, GPU_LIMITS)
        try:
            outcome = self.outcome(session)
        except WorkerLostError:
            raise
        except Exception as error:  # noqa: BLE001 - one submission we stumble over must not cost the class its grades
            outcome = self.fault(error)
        finally:
            session.close()
            if session.gpu is not None:
                session.gpu.close()
        cpu_s = None if session.cpu_s is None else round(session.cpu_s, 4)
        timing = {"wall_s": round(time.monotonic() - started, 4), "cpu_s": cpu_s, **outcome.times}
        return self.report(outcome, timing, session.printed)

    def outcome(self, session: Session) -> _Result:
        if self.submission.problem:
            return self.not_importable(self.submission.problem, "")
        try:
            load(session, self.module)
        except StudentEndedError as error:
            return self.not_importable(f"{error}", f"{error.ending.kind}: {error.ending.evidence}", error.ending)
        except StudentRaisedError as error:
            return self.not_importable(f"{error}", error.traceback, error.ending)
        except StudentError as error:
            return self.not_importable(f"{error}", "")
        except UnsendableError as error:
            return self.not_importable(f"the submission is too large: it {error}", "")
        verdict = self.judge(Student(session, self.api))
        if any(check.earned is None for check in verdict.checks):
            return _Result("grader_fault", None, FAULT, verdict.checks, verdict.endings)
        function_costs = self.measured(session, verdict)
        on_gpu, times = self.measured_on_gpu(session, verdict)
        costs = tuple(map(_cost_result, (*(cost for one in function_costs for cost in one.costs), *on_gpu)))
        forbidden = tuple(
            ForbiddenCall(call.event.target, printable(call.event.call), call.event.place.line, call.why)
            for one in function_costs
            for call in one.forbidden
        )
        score = round(sum(check.earned or 0.0 for check in verdict.checks) + sum(cost.earned for cost in costs), 6)
        diagnoses = self.diagnoses(session, verdict, function_costs)
        return _Result("graded", score, "", verdict.checks, verdict.endings, costs, forbidden, diagnoses, times)

    def measured(self, session: Session, verdict: CheckResults) -> tuple[FunctionCosts, ...]:
        """Measure every function that has a contract, unless it ended its process or passes nothing at all."""
        if self.cost_measurer is None:
            return ()
        not_worth_measuring = verdict.not_worth_measuring
        session.close()  # in a worker that has not run the checks
        return tuple(
            self.cost_measurer.unmeasured(contract)
            if contract.target in not_worth_measuring
            else self.cost_measurer.of(session, contract)
            for contract in self.cost_measurer.contracts
        )

    def measured_on_gpu(self, session: Session, verdict: CheckResults) -> tuple[tuple[Cost, ...], Mapping[str, float]]:
        """Measure what the functions take of a GPU, if there is one: costs, and times for the report."""
        if self.gpu_measurer is None or session.gpu is None:
            return (), {}
        session.gpu.close()  # as above
        student = Student(session, self.api)
        costs = self.gpu_measurer.costs(student, verdict.not_worth_measuring)
        return costs, as_timing(self.gpu_measurer.speeds(student, costs))

    def diagnoses(
        self, session: Session, verdict: CheckResults, function_costs: tuple[FunctionCosts, ...]
    ) -> tuple[Diagnosis, ...]:
        """Say what is wrong, where something is; one's own file is looked at even if its visible checks pass."""
        if self.diagnoser is None:
            return ()
        found: tuple[Diagnosis, ...] = ()
        printed = session.printed
        own = all(check.suite == "visible" for check in verdict.checks)
        try:
            if own or any(check.outcome == "failed" for check in verdict.checks):
                source = self.submission.sources[self.module.slug]
                found = self.diagnoser.diagnose(session, source, verdict.checks, verdict.ended)
            if any(cost.verdict == "fail" for one in function_costs for cost in one.costs):
                found += self.diagnoser.too_expensive(function_costs, found)
        except WorkerLostError:
            raise
        except Exception as error:  # noqa: BLE001 - a diagnosis that fails must not cost anybody a grade
            message = f"no diagnosis: a fault of the grader, not of your code ({type(error).__name__})"
            return (Diagnosis("", None, message, None),)
        finally:
            session.printed = printed  # the file is loaded again for this, and prints again
        return found

    def not_importable(self, message: str, detail: str, ending: Ending | None = None) -> _Result:
        endings = (EndingRecord(ending.kind, IMPORT),) if ending else ()
        return _Result("not_importable", 0.0, message, self.not_run(f"{message}\n{detail}".strip()), endings)

    def fault(self, error: Exception) -> _Result:
        detail = "".join(traceback.format_exception(error))
        checks = tuple(replace(one, outcome="grader_fault", earned=None) for one in self.not_run(detail))
        return _Result("grader_fault", None, FAULT, checks, ())

    def not_graded(self, why: str) -> Report:
        message = "not graded yet: the machine failed, not your code"
        outcome = _Result("not_graded", None, message, self.not_run(why), ())
        return self.report(outcome, {"wall_s": None, "cpu_s": None})

    def not_run(self, detail: str) -> tuple[CheckResult, ...]:
        return tuple(result_of(check, "not_run", "not run", detail) for check in self.checks)

    def max_score(self) -> float:
        costs = self.cost_measurer.points if self.cost_measurer else 0.0
        costs += self.gpu_measurer.points if self.gpu_measurer else 0.0
        gpu = self.spawning.gpu_spawner is not None
        return round(sum(check.points for check in self.checks if gpu or check.suite != "gpu") + costs, 6)

    def report(self, outcome: _Result, timing: dict[str, float | None], printed: str = "") -> Report:
        return Report(
            module=self.module.name,
            submission=plain_name(self.submission.student),
            file=plain_name(self.submission.file),
            status=outcome.status,
            score=outcome.score,
            max_score=self.max_score(),
            message=printable(outcome.message),
            checks=outcome.checks,
            costs=outcome.costs,
            forbidden=outcome.forbidden,
            endings=outcome.endings,
            diagnoses=outcome.diagnoses,
            sandbox=self.spawning.tier,
            environment=environment() | ({"gpu": gpu_name()} if self.spawning.gpu_spawner else {}),
            timing=timing,
            printed=printable(printed),
        )


@dataclass(frozen=True)
class _Result:
    """The part of a report that depends on what the submission did."""

    status: Status
    score: float | None
    message: str
    checks: tuple[CheckResult, ...]
    endings: tuple[EndingRecord, ...]
    costs: tuple[CostResult, ...] = ()
    forbidden: tuple[ForbiddenCall, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)


def _cost_result(cost: Cost) -> CostResult:
    return CostResult(
        target=cost.target,
        function=cost.function,
        meter=cost.meter,
        law=cost.law,
        measured=cost.measured,
        verdict=cost.verdict,
        points=round(cost.points, 6),
        earned=round(cost.earned, 6),
        line=cost.place.line if cost.place else None,
        message=printable(cost.message),
    )

"""The grading of one submission, from loading it to the report."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from grader.complexity.cost import as_timing
from grader.core.errors import IMPORT, Ending, StudentEndedError, StudentError, StudentRaisedError
from grader.core.machine import environment, gpu_name
from grader.core.report import (
    TOO_LITTLE,
    CheckResult,
    CostResult,
    Diagnosis,
    EndingRecord,
    ForbiddenCall,
    Report,
    ReviewItem,
    Status,
    excerpt_of,
)
from grader.core.safe_text import one_line, plain_name, printable
from grader.course.api import Api
from grader.course.module import Module
from grader.course.seeds import seed_of
from grader.diagnosis.diagnose import Diagnoser, Explained
from grader.grading.check_outcome import GRADERS_FAULT, CheckResults, result_of
from grader.grading.checks import Check
from grader.grading.load_student import load, program_of
from grader.grading.review_items import review_items, source_texts
from grader.grading.suite import Judge
from grader.grading.workers import TellSlowCheck, Workers
from grader.sandbox.jail.limits import GPU_LIMITS, Limits
from grader.sandbox.jail.spawner import Spawner, WorkerLostError
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.session import Busy, Program, Session, SessionOptions, TracedCalls
from grader.sandbox.student import Student
from grader.submission.submission import Submission

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.cost import Cost
    from grader.complexity.gpu_costs import GpuMeasurer
    from grader.complexity.measurer import CostMeasurer, FunctionCosts


MOST_FORBIDDEN = 5  # in a report; more would be a way to write into one's own feedback


@dataclass(frozen=True)
class GradingContext:
    """What the submissions of one run share."""

    module: Module
    api: Api
    checks: tuple[Check, ...]
    judge: Judge
    cost_measurer: CostMeasurer | None
    gpu_measurer: GpuMeasurer | None
    diagnoser: Diagnoser | None
    workers: Workers
    limits: Limits
    tell: TellSlowCheck = lambda *_: None
    busy: Busy = lambda *_: None

    @property
    def max_score(self) -> float:
        """The points of all checks and costs that this run can decide."""
        measurers = (self.cost_measurer, self.gpu_measurer)
        costs = sum(measurer.points for measurer in measurers if measurer is not None)
        gpu = self.workers.gpu_spawner is not None
        return round(sum(check.points for check in self.checks if gpu or check.suite != "gpu") + costs, 6)


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
    explained: Explained = field(default_factory=lambda: Explained(()))
    reviews: tuple[ReviewItem, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmissionGrading:
    """The grading of one submission."""

    context: GradingContext
    submission: Submission

    def run(self, spawner: Spawner) -> Report:
        """Grade the submission. WorkerLostError if a worker was lost; every other failure is in the report."""
        started = time.monotonic()
        program = program_of(self.submission, self.context.module, self.context.api)
        session = self._open(spawner, program)
        try:
            result = self._grade(session)
        except WorkerLostError:
            raise
        except Exception as error:  # noqa: BLE001 - a fault at one submission must not cost the class its grades
            result = self._fault(error)
        finally:
            session.close()
            if session.gpu is not None:
                session.gpu.close()
        cpu_s = None if session.worker.cpu_s is None else round(session.worker.cpu_s, 4)
        timing = {"wall_s": round(time.monotonic() - started, 4), "cpu_s": cpu_s, **result.times}
        return self._report(result, timing, session.record.printed)

    def not_graded(self, why: str) -> Report:
        """Return a report without a score, because the machine failed."""
        message = "not graded yet: the machine failed, not your code"
        result = _Result("not_graded", None, message, _not_run(self.context.checks, why), ())
        return self._report(result, {"wall_s": None, "cpu_s": None})

    def _open(self, spawner: Spawner, program: Program) -> Session:
        workers, options, gpu = self.context.workers, self._options(program), None
        if workers.gpu_spawner is not None and not self.context.module.needs_gpu:
            gpu = Session(workers.gpu_spawner, program, GPU_LIMITS, SessionOptions(uncertified=options.uncertified))
        return Session(spawner, program, self.context.limits, options, gpu)

    def _options(self, program: Program) -> SessionOptions:
        """Return what a session of this grading does besides answering."""
        context, module, measurer = self.context, self.context.module, self.context.cost_measurer
        forbids = measurer is not None and bool(measurer.forbidden)
        salt = "" if measurer is None else measurer.salt
        return SessionOptions(
            recorded=forbids and module.backend != "torch",
            named=forbids and module.backend == "torch",
            is_on_gpu=module.needs_gpu,
            traced=TracedCalls(program.files, seed_of(salt, module.name, "traced calls")),
            # Not for torch, which has far more state.
            leaves_nothing=partial(_leaves_nothing, program) if module.backend == "numpy" else lambda: False,
            uncertified=cache(partial(_uncertified, program, full=measurer is not None)),
            tell=partial(context.tell, plain_name(self.submission.student)),
            busy=context.busy,
        )

    def _grade(self, session: Session) -> _Result:
        if self.submission.problem:
            return self._not_importable(self.submission.problem, "")
        try:
            load(session, self.context.module)
        except StudentEndedError as error:
            return self._not_importable(f"{error}", f"{error.ending.kind}: {error.ending.evidence}", error.ending)
        except StudentRaisedError as error:
            return self._not_importable(f"{error}", error.traceback, error.ending)
        except StudentError as error:
            return self._not_importable(f"{error}", "")
        except UnsendableError as error:
            return self._not_importable(f"the submission is too large: it {error}", "")
        results = self.context.judge(Student(session, self.context.api))
        if any(check.earned is None for check in results.checks):
            return _Result("grader_fault", None, GRADERS_FAULT, results.checks, results.endings)
        measured = self._measure(session, results)
        on_gpu, times = self._measure_on_gpu(session, results)
        if self.context.module.needs_gpu:
            measured, on_gpu = self._forbidden_on_gpu(session, on_gpu), ()
        all_costs = (*(cost for one in measured for cost in one.costs), *on_gpu)
        texts = source_texts(self.submission) if all_costs else {}
        costs = tuple(_cost_result(cost, texts) for cost in all_costs)
        forbidden = tuple(
            ForbiddenCall(call.event.target, one_line(call.event.call), call.event.place.line, call.why)
            for one in measured
            for call in one.forbidden
        )[:MOST_FORBIDDEN]
        score = round(sum(check.earned or 0.0 for check in results.checks) + sum(cost.earned for cost in costs), 6)
        explained = self._diagnose(session, results, measured)
        reviews = review_items(self.submission, results.checks, all_costs)
        return _Result(
            "graded", score, "", results.checks, results.endings, costs, forbidden, explained, reviews, times
        )

    def _measure(self, session: Session, results: CheckResults) -> tuple[FunctionCosts, ...]:
        """Measure every function that has a contract, unless it ended its process or passes no check."""
        measurer = self.context.cost_measurer
        if measurer is None:
            return ()
        skipped = results.not_worth_measuring
        diagnosed = any(check.outcome == "failed" for check in results.checks)
        with session.worker.metered(returning=diagnosed):  # measure in a worker that has not run the checks
            measured = tuple(
                measurer.unmeasured(contract) if contract.target in skipped else measurer.of(session, contract)
                for contract in measurer.contracts
            )
            calls = measurer.calls_in_checks(session, session.record.requests)
        files = session.program.own_files
        return tuple(measurer.with_calls(one, calls, files) for one in measured)

    def _measure_on_gpu(self, session: Session, results: CheckResults) -> tuple[tuple[Cost, ...], Mapping[str, float]]:
        """Measure memory and time on the GPU, if there is one: costs, and times for the report."""
        measurer = self.context.gpu_measurer
        if measurer is None or session.gpu is None:
            return (), {}
        session.gpu.close()  # as above: measure in a fresh worker
        student = Student(session, self.context.api)
        costs = measurer.costs(student, results.not_worth_measuring)
        return costs, as_timing(measurer.speeds(student, costs))

    def _forbidden_on_gpu(self, session: Session, costs: tuple[Cost, ...]) -> tuple[FunctionCosts, ...]:
        """Return the costs of a module that runs only on a GPU. There is no other cost that a forbidden call fails."""
        measurer, gpu_measurer = self.context.cost_measurer, self.context.gpu_measurer
        if measurer is None or gpu_measurer is None:
            return ()
        calls, files = measurer.calls_in_checks(session, ()), session.program.own_files
        contracts = {one.function: one for one in gpu_measurer.contracts}
        return tuple(measurer.on_gpu(cost, contracts[cost.function], calls, files) for cost in costs)

    def _diagnose(self, session: Session, results: CheckResults, measured: tuple[FunctionCosts, ...]) -> Explained:
        """Explain what is wrong. A student's own file is probed even if its visible checks pass."""
        diagnoser = self.context.diagnoser
        found = Explained(())
        if diagnoser is None:
            return found
        own = all(check.suite == "visible" for check in results.checks)
        try:
            with session.record.printing_nothing():  # the file is loaded again for this, and prints again
                if own or any(check.outcome == "failed" for check in results.checks):
                    source = self.submission.sources[self.context.module.slug]
                    found = diagnoser.diagnose(session, source, results.checks, results.ended)
                if any(cost.verdict == "fail" for one in measured for cost in one.costs):
                    costly = diagnoser.too_expensive(measured, found.diagnoses)
                    found = replace(found, diagnoses=found.diagnoses + costly)
        except WorkerLostError:
            raise
        except Exception as error:  # noqa: BLE001 - a diagnosis that fails must not cost a student their grade
            message = f"no diagnosis: a fault of the grader, not of your code ({type(error).__name__})"
            return Explained((Diagnosis("", None, message, None),))
        return found

    def _not_importable(self, message: str, detail: str, ending: Ending | None = None) -> _Result:
        file, line = (ending.place if ending else None) or ("", 0)
        endings = (EndingRecord(ending.kind, IMPORT, file, line),) if ending else ()
        checks = _not_run(self.context.checks, f"{message}\n{detail}".strip())
        return _Result("not_importable", 0.0, message, checks, endings)

    def _fault(self, error: Exception) -> _Result:
        detail = "".join(traceback.format_exception(error))
        checks = tuple(
            replace(one, outcome="grader_fault", earned=None) for one in _not_run(self.context.checks, detail)
        )
        return _Result("grader_fault", None, GRADERS_FAULT, checks, ())

    def _report(self, result: _Result, timing: dict[str, float | None], printed: str = "") -> Report:
        return Report(
            module=self.context.module.name,
            submission=plain_name(self.submission.student),
            file=plain_name(self.submission.file),
            status=result.status,
            score=result.score,
            max_score=self.context.max_score,
            message=printable(result.message),
            checks=result.checks,
            costs=result.costs,
            forbidden=result.forbidden,
            reviews=result.reviews,
            builds_on=self.submission.builds_on,
            endings=result.endings,
            diagnoses=result.explained.diagnoses,
            sandbox=self.context.workers.tier,
            environment=environment() | ({"gpu": gpu_name()} if self.context.workers.gpu_spawner else {}),
            timing=timing,
            properties=result.explained.properties,
            answers=result.explained.answers,
            printed=printable(printed),
        )


def _not_run(checks: tuple[Check, ...], detail: str) -> tuple[CheckResult, ...]:
    """Return every check as not run, with the reason for the instructor."""
    return tuple(result_of(check, "not_run", "not run", detail) for check in checks)


def _leaves_nothing(program: Program) -> bool:
    """Whether no call of a submission's functions can change what a later call does."""
    from grader.complexity.stateless import is_stateless  # only a check that fails asks

    return is_stateless(program.files[program.main])


def _uncertified(program: Program, *, full: bool) -> str:
    """Return why what a worker observes of itself is in doubt; empty if it is not, or this is no full grading."""
    if not full:
        return ""
    from grader.complexity.audit import audit  # a student's own checks do not wait for it

    found = next(iter(audit(program.own_files)), None)
    return f"line {found.line}: {found.reason}: an instructor must check" if found else ""


def _cost_result(cost: Cost, texts: Mapping[str, str]) -> CostResult:
    place = cost.place if cost.place and cost.place.file in texts else None  # the worker says which file it was
    shown = place if cost.verdict != "pass" else None
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
        message=printable(f"{TOO_LITTLE}{cost.message}" if cost.too_little else cost.message),
        code=excerpt_of(shown.file, texts[shown.file], shown.line) if shown else None,
    )

"""The judge: runs the checks of a suite against one student, in order."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.core.errors import StudentEndedError, StudentError
from grader.core.report import CheckResult, EndingRecord
from grader.grading.check_outcome import CheckResults, could_be_contaminated, judge_check, result_of
from grader.grading.checks import Check
from grader.sandbox.jail.spawner import WorkerLostError
from grader.sandbox.session import Session
from grader.sandbox.student import Student

CHECK_NEEDS_GPU = "not run: needs a GPU (attn grade --device cuda)"
DISAGREES = "it failed after other functions had run, and passed in a new process: an instructor must check"
RunCheck = Callable[[Student], BaseException | None]  # runs a check once and returns what it raised


def judge(student: Student, pairs: Sequence[tuple[RunCheck, Check]]) -> CheckResults:
    """Run every check against one student."""
    results: dict[str, CheckResult] = {}
    endings: list[EndingRecord] = []
    retry = True
    for run, check in pairs:
        if check.needs in results and results[check.needs].outcome != "passed":
            text = f"held back until {check.needs} passes"
            results[check.name] = result_of(check, "held_back", text, text)
            continue
        session = student._session.gpu if check.suite == "gpu" else student._session
        if session is None:
            results[check.name] = result_of(check, "not_run", CHECK_NEEDS_GPU, CHECK_NEEDS_GPU)
            continue
        disagrees = False
        if check.slow:
            session.options.tell(check.property)
        with session.checking(check.name, cpu_s=check.cpu_s, slow=check.slow):
            problem = _run(run, student, session)
            suspect = session.record.has_new_change or (problem is not None and could_be_contaminated(problem))
            if suspect and not check.slow and session.start_afresh():
                waited = isinstance(problem, StudentEndedError) and problem.waited
                failed = problem is not None
                problem = _run(run, student, session)
                disagrees = failed and problem is None and not waited  # a wait may be the machine's fault
            if isinstance(problem, StudentEndedError) and problem.waited and retry:
                # The machine may have caused the wait, so it counts only if it happens twice.
                problem = _run(run, student, session)
                retry = not (isinstance(problem, StudentEndedError) and problem.waited)
        if isinstance(problem, WorkerLostError):
            raise problem
        if isinstance(problem, StudentError) and problem.ending is not None:
            file, line = problem.ending.place or ("", 0)
            endings.append(EndingRecord(problem.ending.kind, check.name, file, line))
        result = judge_check(check, problem, session.record.device_calls)
        results[check.name] = replace(result, undecided=result.undecided or _doubt(session, disagrees=disagrees))
        session.record.begin_run()  # the calls of this one keep a student's arrays alive
        if problem is not None:
            traceback.clear_frames(problem.__traceback__)  # otherwise it keeps a student's largest arrays alive
    return CheckResults(tuple(results.values()), tuple(endings))


def _doubt(session: Session, *, disagrees: bool) -> str:
    """Say why an instructor must look at a check that passed; empty if there is no reason."""
    if disagrees:
        return DISAGREES
    # What happens on a GPU is the worker's own word.
    return session.options.uncertified() if session.record.device_calls else ""


def _run(run: RunCheck, student: Student, session: Session) -> BaseException | None:
    """Run a check once. One that passes without a look at a value from a GPU is a fault of its author."""
    session.record.begin_run()
    problem = run(student)
    if problem is None and not all(call.is_compared for call in session.record.device_calls):
        return NotComparedError("the check passes, but never looks at the value of a call on a GPU")
    return problem


class NotComparedError(Exception):
    """A check that would pass a function that returns zeros on a GPU."""


def raised_by(action: Callable[[], object]) -> BaseException | None:
    """Return what an action raises. Only Ctrl-C is raised again: it is meant for the grader."""
    try:
        action()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - judged by its kind later
        return error
    return None

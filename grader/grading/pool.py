"""The pool: grading processes that grade a class in parallel. If one fails, the others continue."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from grader.core.machine import Tier, environment
from grader.core.report import Report
from grader.core.safe_text import plain_name, printable
from grader.course.course import Course
from grader.grading.process_handle import (
    ALLOW_UNJAILED,
    CAN_FORK,
    GPU,
    GradingProcess,
    NoProcessError,
    ProcessLostError,
    StartedProcess,
    Template,
)
from grader.grading.workers import TellSlowCheck
from grader.submission.submission import Submission, SubmissionRef, submission_hash

TRIES = 2
MAX_LOST = 3
POLL_SECONDS = 0.5  # Ctrl-C does not interrupt an endless wait on Windows
MOST_WAITING = 64  # reports: with many cores, grading is faster than writing
LOST = f"the grading process ended {TRIES} times at this submission"


@dataclass(frozen=True)
class Graded:
    """One submission with its report, and the hash of what was graded: its file may have changed since."""

    handed_in: SubmissionRef
    submission: str
    report: Report


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cores_of(jobs: int) -> list[int | None]:
    """Return the core that each process stays on with its workers, if there is one process for each core.

    A process and its worker take turns, so one core is enough for both, and waking the other costs less there. Fewer
    processes may be on any core: those of two commands could meet on one, with another one idle.
    """
    cores = sorted(os.sched_getaffinity(0)) if CAN_FORK else []
    return [*cores] if len(cores) == jobs else [None] * jobs


def grade_in_pool(
    course: Course,
    work: Sequence[SubmissionRef],
    jobs: int,
    *,
    allow_unjailed: bool = False,
    gpu: bool = False,
    tell: TellSlowCheck = lambda *_: None,
) -> Generator[Graded]:
    """Yield each submission with its report when it is done; closing the iterator stops everything at once.

    NoJailError, NoGpuError, CourseError and NoProcessError end it. If a grading process dies at a submission, the
    submission is tried once more. If that fails too, it is not graded.
    """
    # At least two submissions for each process: with fewer, its start costs more than it saves.
    jobs = max(1, min(jobs, len(work) // 2))
    pool = _Pool(course, work, allow_unjailed=allow_unjailed, gpu=gpu, forked=jobs > 1 and CAN_FORK)
    drivers = [threading.Thread(target=pool.drive, args=[core], daemon=True) for core in cores_of(jobs)]
    for driver in drivers:
        driver.start()
    try:
        yield from pool.results(len(drivers), tell)
    finally:
        pool.stop()
        for driver in drivers:
            driver.join()
        pool.close_all()


@dataclass(frozen=True)
class _Told:
    """A slow check of a student that begins."""

    student: str
    check: str


class _Pool:
    """The state that the threads share: the work, the results, and whether to stop. Each thread drives one process."""

    def __init__(
        self, course: Course, work: Sequence[SubmissionRef], *, allow_unjailed: bool, gpu: bool, forked: bool
    ) -> None:
        self.course = course
        self.flags = [name for name, on in ((ALLOW_UNJAILED, allow_unjailed), (GPU, gpu)) if on]
        # Here, not in a driver: a process ends with the thread that started it.
        backend = course.module(work[0].module).backend if forked else None
        self._template = Template(course.root, self.flags, backend) if backend else None
        self._work = iter(work)
        self._done: queue.Queue[Graded | _Told | Exception | None] = queue.Queue(MOST_WAITING)
        self._lock = threading.Lock()
        self._processes: set[GradingProcess] = set()
        self._stopped = False
        self._tier: Tier = "none"
        self._answered = False
        self._lost = 0

    def results(self, drivers: int, tell: TellSlowCheck) -> Iterator[Graded]:
        """Yield the results of the drivers until the last one has ended; pass on what they say about slow checks."""
        while drivers:
            try:
                one = self._done.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if one is None:
                drivers -= 1
            elif isinstance(one, Exception):
                raise one
            elif isinstance(one, _Told):
                tell(one.student, one.check)
            else:
                yield one

    def stop(self) -> None:
        """Stop everything at once."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()
            if self._template is not None:
                self._template.kill()

    def close_all(self) -> None:
        """End the processes that are left, such as one that could not grade at all."""
        for process in tuple(self._processes):
            self._close(process)
        if self._template is not None:
            self._template.close()

    def drive(self, core: int | None) -> None:
        """Send submissions to a process, on one core or any, until none is left. A process that ends is replaced."""
        process: GradingProcess | None = None
        try:
            while (handed_in := self._next()) is not None:
                submission = handed_in.read()
                report = None
                if not submission.lost:
                    process, report = self._graded(process, submission, core)
                report = report or machine_failed(self.course, submission, submission.lost or LOST, self._tier)
                self._put(Graded(handed_in, submission_hash(submission), report))
        except Exception as error:  # noqa: BLE001 - raised where the results are read
            self._put(error)
        finally:
            if process is not None:
                self._close(process)
            self._put(None)

    def _put(self, one: Graded | _Told | Exception | None) -> None:
        """Pass something on, as soon as there is room. Who has stopped reads nothing more."""
        while not self._stopped:
            try:
                self._done.put(one, timeout=POLL_SECONDS)
            except queue.Full:
                continue
            return

    def _next(self) -> SubmissionRef | None:
        with self._lock:
            return None if self._stopped else next(self._work, None)

    def _graded(
        self, process: GradingProcess | None, submission: Submission, core: int | None
    ) -> tuple[GradingProcess, Report] | tuple[None, None]:
        for attempt in range(TRIES):
            # The last try has a process of its own: a template that ends takes what it forked with it.
            process = process or self._started(core, forked=attempt < TRIES - 1)
            try:
                report = process.ask(submission, lambda *said: self._put(_Told(*said)))
                self._answered, self._tier = True, report.sandbox
                return process, report
            except ProcessLostError as error:
                self._close(process)
                process, why = None, error
        with self._lock:
            self._lost += 1
        if not self._answered and self._lost >= MAX_LOST:
            raise NoProcessError(f"{why}, and so did all processes before it") from None
        return None, None

    def _started(self, core: int | None, *, forked: bool) -> GradingProcess:
        with self._lock:
            if self._stopped:
                raise ProcessLostError("stopped")
            copy = self._template.fork(core) if forked and self._template is not None else None
            process = copy or StartedProcess(self.course.root, self.flags)
            self._processes.add(process)
            return process

    def _close(self, process: GradingProcess) -> None:
        with self._lock:
            self._processes.discard(process)
        process.close()


def machine_failed(course: Course, submission: Submission, why: str, tier: Tier) -> Report:
    """Return a report without a score and without checks: the machine failed, not the submission."""
    module = course.module(submission.module)
    return Report(
        module=module.name,
        submission=plain_name(submission.student),
        file=plain_name(submission.file),
        status="not_graded",
        score=None,
        max_score=module.points,
        message=printable(f"not graded yet: {why}; it is not your code"),
        checks=(),
        costs=(),
        forbidden=(),
        endings=(),
        diagnoses=(),
        sandbox=tier,
        environment=environment(),
        timing={"wall_s": None, "cpu_s": None},
    )

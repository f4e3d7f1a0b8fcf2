"""The task of a worker: grade one chunk, write each report, and answer with their keys.

Each thread of a worker has one grading process, which keeps its zygote warm from chunk to chunk. A process ends with
the thread that started it, so none is left behind.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from itertools import cycle, repeat
from pathlib import Path
from typing import Any

from grader.classroom.provenance import Provenance, ProvenanceReader, grader_hash
from grader.core.machine import Tier, gpu_name
from grader.core.report import Report
from grader.course.course import read_course
from grader.course.module import CourseError
from grader.grading.pool import LOST, MAX_LOST, TRIES, machine_failed
from grader.grading.process_handle import (
    GPU,
    GradingProcess,
    NoProcessError,
    ProcessLostError,
    StartedProcess,
    failure_of,
)
from grader.grading.workers import NoGpuError, NoJailError
from grader.platforms.cluster.spool import ABANDONED, FAILED, KEYS, REFUSED, Job, Spool, differences, read_job
from grader.submission.submission import Submission

_RUNNING_CODE = grader_hash()  # the code of this process, even if the files change later
_mine = threading.local()
_round = 0  # a worker that loses its scheduler begins a new round
_cores: Iterator[int | None] = repeat(None)  # for each new thread


def use_cores(cores: Sequence[int | None]) -> None:
    """Let the threads stay on these cores, one on each, with the processes that they start."""
    global _cores
    _cores = cycle(cores)


def abandon() -> None:
    """Stop all chunks after the submission that they grade now: no one waits for them any more."""
    global _round
    _round += 1


def grade_chunk(text: str) -> str:
    """Grade one chunk. Whatever happens is in the answer: only a lost machine gives none."""
    return json.dumps(_answer(read_job(text)) | {"worker": socket.gethostname()})


def gpu_of_worker() -> str | None:
    """Return the name of the GPU of this machine."""
    return gpu_name()


def _answer(job: Job) -> dict[str, Any]:
    spool, started = Spool(Path(job.spool)), _round
    try:
        problem = _problem(job)
        if problem:
            return {REFUSED: problem}
        grader = _grader(job)
        keys = []
        for one in spool.submissions(job.chunk):
            if _round != started:
                return {ABANDONED: True}
            if not spool.has(one.key):
                spool.write(one.key, grader.report(one.submission))
            keys.append(one.key)
    except (NoJailError, NoGpuError, CourseError, NoProcessError, RuntimeError) as error:
        return failure_of(error)
    except OSError as error:
        return {FAILED: f"the worker on {socket.gethostname()} failed: {error}"}
    return {KEYS: keys}


def _problem(job: Job) -> str:
    """Return why this worker must not grade a job."""
    host = socket.gethostname()
    for folder in (job.course, job.spool):
        if not Path(folder).is_dir():
            return f"the worker on {host} does not see {folder}: the course and --to must be on a disk that all share"
    gpu = gpu_name() if GPU in job.flags else None
    here = ProvenanceReader(read_course(Path(job.course)), [job.module], gpu_name=gpu).of_hash(job.module, "")
    here = Provenance(here.submission, here.checks, _RUNNING_CODE, here.environment)
    return differences(job.basis, here, host)


class _ChunkGrader:
    """The grading process of one thread: replaced when it ends, and when the course changes."""

    def __init__(self, job: Job) -> None:
        self.made_for = _needs(job)
        self._course = read_course(Path(job.course))
        self._flags = job.flags
        self._process: GradingProcess | None = None
        self._tier: Tier = "none"
        self._answered = False
        self._lost = 0

    def report(self, submission: Submission) -> Report:
        """Return the report of a submission: without a score if the process ends at it twice."""
        for _ in range(TRIES):
            self._process = self._process or StartedProcess(self._course.root, self._flags)
            try:
                report = self._process.ask(submission, lambda *_: None)
                self._answered, self._tier = True, report.sandbox
                return report
            except ProcessLostError as error:
                why = error
                self.close()
        self._lost += 1
        if not self._answered and self._lost >= MAX_LOST:
            raise NoProcessError(f"{why}, and so did all processes before it")
        return machine_failed(self._course, submission, LOST, self._tier)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
        self._process = None


def _grader(job: Job) -> _ChunkGrader:
    """Return the grader of this thread, a new one if the last was for something else."""
    known: _ChunkGrader | None = getattr(_mine, "grader", None)
    if known is None:
        _stay_on_own_core()
    if known is None or known.made_for != _needs(job):
        if known is not None:
            known.close()
        known = _mine.grader = _ChunkGrader(job)
    return known


def _stay_on_own_core() -> None:
    """Keep this thread on the next core. What it starts stays there, too: see `cores_of`."""
    core = next(_cores)
    if core is not None:
        from grader.sandbox.jail.kernel import stay_on  # only Linux has it

        stay_on(core)


def _needs(job: Job) -> tuple[object, ...]:
    return job.course, job.flags, job.module, job.basis

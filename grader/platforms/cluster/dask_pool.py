"""The executor for many machines: chunks of submissions in a sliding window, through a Dask scheduler."""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from distributed import Security

from grader.classroom.provenance import ProvenanceReader
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.pool import Graded, machine_failed
from grader.grading.process_handle import ALLOW_UNJAILED, FAULT, GPU, NO_JAIL, raise_failure
from grader.grading.workers import TellSlowCheck
from grader.platforms.cluster import ClusterError, ClusterLostError
from grader.platforms.cluster.link import AGAIN, CONNECT_SECONDS, PATIENCE_SECONDS, Link
from grader.platforms.cluster.spool import ABANDONED, FAILED, KEYS, REFUSED, Job, Spool, Spooled, key_of
from grader.submission.submission import SubmissionRef, submission_hash

LARGEST = 200  # submissions of a chunk: what a lost machine can cost
CHUNKS_PER_CORE = 4  # of a class: the last chunks end at about the same time
WAITING_PER_CORE = 2  # one that is graded and one that waits, so that no core waits for the command
MAX_LOST = 5  # machines that a chunk may outlive
POLL_SECONDS = 1.0
SEEN_SECONDS = 15.0  # a shared disk may show a new file a little later


@dataclass(frozen=True)
class DaskPool:
    """The workers of a scheduler. With `gpu_name`, all of them have this GPU."""

    address: str
    spool: Path
    security: Security | None = None
    allow_unjailed: bool = False
    gpu_name: str | None = None
    patience: float = PATIENCE_SECONDS
    connect: float = CONNECT_SECONDS  # the time for the first connection

    def grade(self, course: Course, work: Sequence[SubmissionRef], tell: TellSlowCheck) -> Generator[Graded]:
        """Grade with the workers. Only the names of chunks travel; the rest goes through the shared folder."""
        del tell  # a worker does not say which check it runs
        with closing(Link(self.address, self.security, self.patience, self.connect)) as link:
            link.wait_for_workers()
            yield from _Run(self, course, work, link).results()

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of the grading processes."""
        return tuple(
            name for name, on in ((ALLOW_UNJAILED, self.allow_unjailed), (GPU, self.gpu_name is not None)) if on
        )


def find_gpu(address: str, security: Security | None, patience: float = PATIENCE_SECONDS) -> str:
    """Return the name of the GPU that all workers of a scheduler have; ClusterError if they have not."""
    with closing(Link(address, security, patience)) as link:
        link.wait_for_workers()
        names = link.gpus()
    if len(names) != 1 or None in names:
        shown = ", ".join(sorted(name or "none" for name in names))
        raise ClusterError(f"all workers at {address} must have the same GPU, but they have: {shown}")
    (name,) = names
    assert name is not None
    return name


@dataclass(frozen=True)
class _Sent:
    """One submission of a chunk that is being graded."""

    handed_in: SubmissionRef
    key: str
    submission: str


@dataclass(frozen=True)
class _Chunk:
    """A chunk that is being graded, and how often its machine was lost."""

    name: str
    module: str
    sent: tuple[_Sent, ...]
    lost: int = 0


class _Run:
    """One grading of a class: the chunks that are under way."""

    def __init__(self, pool: DaskPool, course: Course, work: Sequence[SubmissionRef], link: Link) -> None:
        self._pool, self._course, self._link = pool, course, link
        self._work = work
        modules = {handed_in.module for handed_in in work}
        self._provenance = ProvenanceReader(course, modules, gpu_name=pool.gpu_name)
        self._spool = Spool(pool.spool.resolve())
        self._cleaner = ThreadPoolExecutor(1)  # a shared disk takes its time to remove files
        self._under_way: dict[str, _Chunk] = {}
        self._unreadable: list[Graded] = []
        self._run = uuid.uuid4().hex[:8]
        self._jobs = 0

    def results(self) -> Iterator[Graded]:
        """Yield the results until the last chunk is done."""
        self._spool.open()
        chunks = self._chunks()
        heard = time.monotonic()
        more = True
        while more or self._under_way:
            while more and len(self._under_way) < WAITING_PER_CORE * max(1, self._link.cores()):
                chunk = next(chunks, None)
                more = chunk is not None
                if chunk is not None:
                    self._send(chunk)
            while self._unreadable:
                yield self._unreadable.pop()
            if not self._under_way:
                continue
            answer = self._link.next(POLL_SECONDS)
            if answer is not None:
                heard = time.monotonic()
                yield from self._finished(self._under_way.pop(answer[0]), answer[1])
            elif self._link.renewed():
                for chunk in self._all_under_way():
                    self._send(chunk)
            elif self._link.cores():
                heard = time.monotonic()
            elif time.monotonic() - heard > self._pool.patience:
                raise ClusterLostError(f"{self._pool.address} has had no worker for {self._pool.patience:.0f} s")
        self._cleaner.shutdown()

    def _chunks(self) -> Iterator[_Chunk]:
        """Read and write one chunk after another. None is larger than needed to keep all cores busy."""
        number = 0
        for module, theirs in groupby(self._work, key=lambda one: one.module):
            while now := list(islice(theirs, self._size())):
                if sent := self._written(f"{self._run}-{number}", now):
                    yield _Chunk(f"{self._run}-{number}", module, sent)
                    number += 1

    def _size(self) -> int:
        share = math.ceil(len(self._work) / (CHUNKS_PER_CORE * max(1, self._link.cores())))
        return min(LARGEST, max(1, share))

    def _written(self, name: str, work: Sequence[SubmissionRef]) -> tuple[_Sent, ...]:
        sent: list[_Sent] = []
        spooled: list[Spooled] = []
        for handed_in in work:
            submission = handed_in.read()
            digest = submission_hash(submission)
            if submission.lost:
                report = machine_failed(self._course, submission, submission.lost, "none")
                self._unreadable.append(Graded(handed_in, digest, report))
                continue
            key = key_of(self._provenance.of_hash(handed_in.module, digest), handed_in.attempt)
            sent.append(_Sent(handed_in, key, digest))
            spooled.append(Spooled(key, submission))
        self._spool.send(name, spooled)
        return tuple(sent)

    def _send(self, chunk: _Chunk) -> None:
        self._jobs += 1
        name = f"attn-{chunk.name}-{self._jobs}"
        basis = self._provenance.of_hash(chunk.module, "")
        root, spool = str(self._course.root.resolve()), str(self._spool.folder)
        job = Job(root, spool, chunk.name, chunk.module, basis, self._pool.flags)
        self._under_way[name] = chunk
        self._link.send(name, job.text())

    def _all_under_way(self) -> list[_Chunk]:
        chunks = list(self._under_way.values())
        self._under_way.clear()
        return chunks

    def _finished(self, chunk: _Chunk, text: str | None) -> Iterator[Graded]:
        """Yield the results of a chunk; send it again if its machine was lost."""
        answer: dict[str, Any] = {ABANDONED: True} if text is AGAIN else json.loads(text)
        if REFUSED in answer:
            raise ClusterError(answer[REFUSED])
        if FAILED in answer:
            raise ClusterLostError(answer[FAILED])
        if "error" in answer:
            _raise(answer)
        reports = {one.key: self._report(one.key) for one in chunk.sent} if KEYS in answer else {}
        if not all(reports.get(one.key) for one in chunk.sent):
            if chunk.lost < MAX_LOST:
                self._send(_Chunk(chunk.name, chunk.module, chunk.sent, chunk.lost + 1))
                return
            reports = {one.key: self._spool.report(one.key) for one in chunk.sent}
        for one in chunk.sent:
            yield Graded(one.handed_in, one.submission, reports[one.key] or self._given_up(one.handed_in))
        self._cleaner.submit(self._spool.forget, chunk.name, [one.key for one in chunk.sent])

    def _report(self, key: str) -> Report | None:
        until = time.monotonic() + SEEN_SECONDS
        while (report := self._spool.report(key)) is None and time.monotonic() < until:
            time.sleep(0.2)
        return report

    def _given_up(self, handed_in: SubmissionRef) -> Report:
        why = f"{MAX_LOST + 1} machines were lost while they graded it or others beside it"
        return machine_failed(self._course, handed_in.read(), why, "none")


def _raise(answer: dict[str, Any]) -> None:
    """Raise what a worker could not do, with the name of its machine where that matters."""
    if answer["error"] == NO_JAIL:
        advice = "run `attn doctor` there, or add --allow-unjailed to grade code that you trust"
        raise ClusterError(f"NOT SANDBOXED: the worker on {answer['worker']} has no jail: {advice}")
    if answer["error"] == FAULT:
        raise ClusterError(f"the worker on {answer['worker']} failed:\n{answer['why']}")
    raise_failure(answer)

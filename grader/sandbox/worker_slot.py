"""The workers of a session, one at a time: how each one starts, is left, is kept for later, and ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from grader.core.errors import Ending
from grader.sandbox.endings import classify
from grader.sandbox.jail.limits import Deadline, DeadlineError, Limits, cpu_seconds
from grader.sandbox.jail.spawner import START_SECONDS, Exit, Process, Spawner, WorkerLostError
from grader.sandbox.protocol.channel import POLL_SECONDS, Channel, ClosedError

__tracebackhide__ = True

Loading = Literal["plain", "metered"]  # with meters at once: code must not see that it is loaded a second time
FIRST_HANDLE = 1 << 32  # handles above this are given by the session, those below by the worker


@dataclass
class LiveWorker:
    """A running worker and our end of its channel."""

    process: Process
    channel: Channel
    _renewed: bool = False  # whether its next request must run as in a new worker

    def renew(self) -> None:
        """Let its next request run as in a new worker."""
        self._renewed = True

    def take_renewal(self) -> bool:
        """Return whether the request that is sent now must run as in a new worker."""
        renewed, self._renewed = self._renewed, False
        return renewed


class WorkerSlot:
    """The place of a session's worker, empty or with one; `generation` is the number of workers that have left it."""

    def __init__(self, spawner: Spawner, loading: Loading, leaves_nothing: Callable[[], bool]) -> None:
        self.spawner = spawner
        self.loading = loading  # how a new worker loads the program
        self.live: LiveWorker | None = None
        self.generation = 0
        self.cpu_s: float | None = 0.0  # of the workers that have ended
        self.owners: set[str] = set()  # whose code has run in the current worker
        self._leaves_nothing = leaves_nothing
        self._handles = FIRST_HANDLE

    def start(self) -> LiveWorker:
        """Start a worker. It says that it is ready before it reads any of the submission."""
        process = self.spawner.spawn()
        self.live = worker = LiveWorker(process, Channel(process.sock, tensors=self.spawner.backend == "torch"))
        started = time.monotonic()

        def patience() -> None:
            if time.monotonic() - started > START_SECONDS:
                raise ClosedError("not ready in time")

        try:
            worker.channel.receive_byte(patience)
        except ClosedError as error:
            self._stop(None)
            raise WorkerLostError(f"a worker ended before it received the submission: {error}") from None
        return worker

    def end(self, ending: Ending | None, limits: Limits) -> Ending:
        """Remove the worker, and return how it ended: the given way, or else as it did by itself."""
        own_exit = self._stop(None if ending else limits)
        jailed = self.spawner.tier != "none"
        return ending or classify(own_exit, jailed=jailed, memory=self.spawner.memory)

    def close(self) -> None:
        """End the worker, if there is one, and add its CPU time."""
        if self.live is None:
            return
        used = cpu_seconds(self.live.process.pid)
        self._close(self.live).dismiss()
        self.cpu_s = None if self.cpu_s is None else self.cpu_s + used

    def renew(self) -> None:
        """Let what follows run as in a new worker. Where calls leave nothing behind, the worker stays.

        It forgets its objects, its random numbers and which warnings it has shown, before it carries out a request.
        """
        if self.live is None or not self._leaves_nothing():
            self.close()
            return
        worker = self.live
        self._leave()
        self._keep(worker)

    @contextmanager
    def metered(self, *, returning: bool) -> Iterator[None]:
        """Load the program with meters inside a `with` block, in workers of their own.

        If it is `returning` to the plain program, code that leaves nothing behind gets its worker back, as in `renew`.
        """
        parked = self.live if returning and self._leaves_nothing() else None
        if parked is None:
            self.close()
        else:
            self._leave()
        self.loading = "metered"
        try:
            yield
        finally:
            self.close()
            self.loading = "plain"
            if parked is not None:
                self._keep(parked)

    def new_handle(self) -> int:
        """Return a handle for an object that a later request makes."""
        self._handles += 1
        return self._handles

    def _keep(self, worker: LiveWorker) -> None:
        worker.renew()
        self.live = worker

    def _stop(self, limits: Limits | None) -> Exit | None:
        """Remove the worker. Return how it ended by itself within the limits; None if it had to be killed."""
        if self.live is None:
            return None
        process = self._close(self.live)
        own_exit = None if limits is None else _wait_for_exit(process, limits)
        if own_exit is None:
            process.kill()
        ended = own_exit or process.wait(START_SECONDS)
        if ended is None:
            raise WorkerLostError("a worker did not end after it was killed")
        self.cpu_s = None if self.cpu_s is None or ended.cpu_s is None else self.cpu_s + ended.cpu_s
        return own_exit

    def _close(self, worker: LiveWorker) -> Process:
        """Forget the worker and return its process."""
        self._leave()
        worker.channel.close()
        return worker.process

    def _leave(self) -> None:
        """Forget the worker and every object in it."""
        self.live = None
        self.owners = set()
        self.generation += 1


def _wait_for_exit(process: Process, limits: Limits) -> Exit | None:
    """Wait for a worker that closed its channel to end by itself; killing it now would hide how it ends."""
    patience = Deadline(limits, process.pid)
    while (ended := process.wait(POLL_SECONDS)) is None:
        try:
            patience()
        except DeadlineError:
            return None
    return ended

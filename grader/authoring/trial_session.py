"""Sessions for code that the author wrote: one that notes what is asked for, and one that shares its worker.

Wrong ways are the author's own code, so they may follow one another in one worker. A new process for each would cost
more than everything else in a proof.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import IMPORT
from grader.sandbox.jail.limits import CPU_SECONDS, Limits, cpu_seconds
from grader.sandbox.jail.spawner import Process, Spawner
from grader.sandbox.session import Program, Session, SessionOptions
from grader.sandbox.worker_slot import LiveWorker, WorkerSlot


class RecordingSession(Session):
    """Notes, for each check, the names that it asks the submission for, and whose code it runs."""

    def __init__(self, spawner: Spawner, program: Program, limits: Limits, options: SessionOptions) -> None:
        super().__init__(spawner, program, limits, options)
        self.checks: dict[str, CheckRecord] = {}
        self._record = CheckRecord()

    def _begin_check(self, name: str) -> None:
        self._record = self.checks[name] = CheckRecord()
        super()._begin_check(name)

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        self._record.owners.add(owner)
        self._note(message)
        return super().request(message, call, owner)

    def request_later(self, message: dict[str, Any]) -> None:
        self._note(message)
        super().request_later(message)

    def _note(self, message: dict[str, Any]) -> None:
        self._record.names.update(message.get("ref", [0, []])[1])


@dataclass
class CheckRecord:
    """What one check did with the solution."""

    names: set[str] = field(default_factory=set)  # of functions, classes, methods and constants
    owners: set[str] = field(default_factory=set)  # the functions and classes whose code it ran

    @property
    def asked(self) -> set[str]:
        """Every name that the check used."""
        return self.names | self.owners


@dataclass(frozen=True)
class Skipped:
    """The checks that need not run, among all checks in their order."""

    checks: Mapping[str, CheckRecord]
    affected: Collection[str]


class SkippingSession(Session):
    """A session in which some checks are left out.

    Whether a failing check gets a fresh worker depends on whose code ran before it. So the code that the skipped checks
    would have run counts, too.
    """

    def __init__(
        self, spawner: Spawner, program: Program, limits: Limits, options: SessionOptions, skipped: Skipped
    ) -> None:
        super().__init__(spawner, program, limits, options)
        self._skipped = skipped
        self._coming = list(skipped.checks)

    def _begin_check(self, name: str) -> None:
        while self._coming and name in self._coming:
            passed = self._coming.pop(0)
            if passed not in self._skipped.affected:
                self.worker.owners |= self._skipped.checks[passed].owners
        super()._begin_check(name)


@dataclass
class SharedWorker:
    """A worker that serves one session after another, until one of them ends it."""

    live: LiveWorker | None = None

    def close(self) -> None:
        """End the worker."""
        if self.live is not None:
            self.live.channel.close()
            self.live.process.dismiss()
            self.live = None


class _SharedSlot(WorkerSlot):
    """A place whose worker other sessions use before and after it."""

    def __init__(self, spawner: Spawner, shared: SharedWorker) -> None:
        super().__init__(spawner, "plain", lambda: False)
        self._shared = shared

    def adopt(self) -> bool:
        """Take the worker that another session has left; False if there is none."""
        # The kernel ends a worker that has used too much CPU time: one that serves slow checks is replaced before.
        if self._shared.live is not None and cpu_seconds(self._shared.live.process.pid) > CPU_SECONDS / 3:
            self._shared.close()
        self.live = self._shared.live
        return self.live is not None

    def start(self) -> LiveWorker:
        self._shared.live = super().start()
        return self._shared.live

    def close(self) -> None:
        """Leave the worker to the next session."""
        if self.live is not None:
            self._leave()

    def _close(self, worker: LiveWorker) -> Process:
        self._shared.live = None
        return super()._close(worker)


class SharedSession(SkippingSession):
    """A session in a worker that other sessions use before and after it; a fresh start loads the program again."""

    def __init__(
        self,
        spawner: Spawner,
        program: Program,
        limits: Limits,
        options: SessionOptions,
        skipped: Skipped,
        shared: SharedWorker,
    ) -> None:
        super().__init__(spawner, program, limits, options, skipped)
        self._slot = _SharedSlot(spawner, shared)
        self.worker = self._slot

    def _start(self) -> None:
        if self._slot.adopt():
            self._exchange({"op": "seed", "seed": 0}, IMPORT, IMPORT)  # as in a worker that has just started
        else:
            super()._start()

"""Sessions for code that the author wrote: one that notes what is asked for, and one that shares its worker.

Wrong ways are the author's own code, so they may follow one another in one worker. A new process for each would cost
more than everything else in a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Process, Spawner
from grader.sandbox.session import IMPORT, LiveWorker, Program, Session


class RecordingSession(Session):
    """Notes, for each check in turn, the names that it asks the submission for."""

    def __init__(self, spawner: Spawner, program: Program, limits: Limits) -> None:
        super().__init__(spawner, program, limits)
        self.asked: list[set[str]] = []

    def begin_check(self) -> None:
        super().begin_check()
        self.asked.append(set())

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        self._note(message, owner)
        return super().request(message, call, owner)

    def request_later(self, message: dict[str, Any]) -> None:
        self._note(message)
        super().request_later(message)

    def _note(self, message: dict[str, Any], *owner: str) -> None:
        if self.asked:
            self.asked[-1] |= {*owner, *message.get("ref", [0, []])[1], *message.get("path", [])}


@dataclass
class SharedWorker:
    """A worker that serves one session after another, until one of them ends it."""

    live: LiveWorker | None = None


class SharedSession(Session):
    """A session in a worker that other sessions use before and after it; a fresh start loads the program again."""

    def __init__(self, spawner: Spawner, program: Program, limits: Limits, shared: SharedWorker) -> None:
        super().__init__(spawner, program, limits)
        self.shared = shared

    def close(self) -> None:
        """Leave the worker to the next session."""
        if self._worker is not None:
            self._leave_worker()

    def _start(self) -> None:
        if self.shared.live is None:
            super()._start()
            self.shared.live = self._worker
        else:
            self._worker = self.shared.live
            self._exchange({"op": "seed", "seed": 0}, IMPORT, IMPORT)  # as in a worker that has just started

    def _close(self) -> Process:
        self.shared.live = None
        return super()._close()

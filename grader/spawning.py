"""Spawning for a class: the workers of many submissions, whatever becomes of the process they come from."""

from __future__ import annotations

from collections.abc import Callable

from grader.module import Module
from grader.report import Report
from grader.sandbox.spawn import JailError, Spawner, WorkerLostError, ZygoteSpawner
from grader.sandbox.tiers import open_spawner


class NoJailError(Exception):
    """This machine gives no jail, and the code to be graded is somebody else's."""


class Spawning:
    """A spawner that is replaced when it dies, so that one lost zygote does not cost a class its grades.

    Whether there is a jail is asked at once, unless it does not matter: then the zygote gets ready while we do.
    """

    def __init__(self, module: Module, begun: ZygoteSpawner | None, *, allow_unjailed: bool) -> None:
        self.module = module
        self.begun = begun
        self._spawner: Spawner | None = None
        if not allow_unjailed and self.spawner.tier == "none":
            self.spawner.close()
            raise NoJailError

    @property
    def spawner(self) -> Spawner:
        """The spawner, opened when it is first asked for."""
        if self._spawner is None:
            begun, self.begun = self.begun, None
            self._spawner = open_spawner(self.module.backend, begun) if begun else open_spawner(self.module.backend)
        return self._spawner

    def __enter__(self) -> Spawning:
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._spawner, self.begun):
            if one is not None:
                one.close()

    def tried_twice(self, run: Callable[[Spawner], Report], give_up: Callable[[Spawner, str], Report]) -> Report:
        """Run once more with a new spawner if the first is lost; then give up, without a verdict."""
        try:
            return run(self.spawner)
        except WorkerLostError:
            self.spawner.close()
        try:
            self._spawner = self.spawner.again()
            return run(self.spawner)
        except (WorkerLostError, JailError) as error:
            return give_up(self.spawner, str(error))

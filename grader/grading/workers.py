"""Workers for many submissions, even if the process that starts them dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from grader.core.machine import Tier
from grader.core.report import Report
from grader.course.module import Backend
from grader.sandbox.jail.spawner import JailError, Spawner, WorkerLostError, ZygoteSpawner
from grader.sandbox.jail.tiers import open_gpu_spawner, open_spawner

MODULE_NEEDS_GPU = "not run: this module needs an NVIDIA GPU and --device cuda"
TellSlowCheck = Callable[[str, str], None]  # called when one begins: a student, and the property that it is about


class NoJailError(Exception):
    """This machine has no jail, and the code to be graded is other people's."""


class NoGpuError(Exception):
    """Grading on a GPU was asked for, but workers on this machine cannot use one."""


class Workers:
    """A spawner that is replaced when it dies, so that one lost zygote does not cost a class its grades.

    With a second spawner for the GPU, all other calls stay in the jail without a GPU, which is better. With `alone`,
    all calls are for the GPU.
    """

    def __init__(
        self, backend: Backend, begun: ZygoteSpawner | None, gpu_spawner: ZygoteSpawner | None, *, alone: bool
    ) -> None:
        self.backend = backend
        self.begun = begun
        self.gpu_spawner = gpu_spawner
        self._spawner: Spawner | None = gpu_spawner if alone else None

    @property
    def spawner(self) -> Spawner:
        """The spawner, opened at its first use."""
        if self._spawner is None:
            begun, self.begun = self.begun, None
            self._spawner = open_spawner(self.backend, begun) if begun else open_spawner(self.backend)
        return self._spawner

    @property
    def tier(self) -> Tier:
        """The weaker tier of the two spawners."""
        tiers = [self.spawner.tier, *([self.gpu_spawner.tier] if self.gpu_spawner else [])]
        return max(tiers, key=("strict", "contained", "none").index)

    def close(self) -> None:
        """End the spawners."""
        for one in (self._spawner, self.begun, self.gpu_spawner):
            if one is not None:
                one.close()

    def run_with_retry(self, run: Callable[[Spawner], Report], give_up: Callable[[str], Report]) -> Report:
        """Run once more with a new spawner if the first is lost; if that fails too, give up without a verdict."""
        try:
            return run(self.spawner)
        except WorkerLostError:
            self.spawner.close()
            if self.gpu_spawner:
                self.gpu_spawner.close()
        try:
            alone = self._spawner is self.gpu_spawner
            self.gpu_spawner = self.gpu_spawner and self.gpu_spawner.again()
            self._spawner = self.gpu_spawner if alone else self.spawner.again()
            return run(self.spawner)
        except (WorkerLostError, JailError) as error:
            return give_up(str(error))


@contextmanager
def open_workers(
    backend: Backend,
    begun: ZygoteSpawner | None = None,
    *,
    allow_unjailed: bool,
    gpu: bool = False,
    alone: bool = False,
) -> Iterator[Workers]:
    """Open workers; with `gpu`, also for calls on the GPU; with `alone`, only for these, and they may compile.

    The jail is tested at once, unless it does not matter. Then the zygote starts while other work is done.
    """
    if alone and not allow_unjailed:
        raise NoJailError
    try:
        gpu_spawner = open_gpu_spawner(compiles=alone) if gpu else None
    except JailError as error:
        raise NoGpuError(str(error)) from None
    with closing(Workers(backend, begun, gpu_spawner, alone=alone)) as workers:
        if not allow_unjailed and workers.tier == "none":
            raise NoJailError
        yield workers

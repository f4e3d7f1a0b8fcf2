"""Limits on time and memory: of one request, watched by the trusted side, and of a worker in total."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

__tracebackhide__ = True  # pytest shows the student's failure, not our proxy

_PROCESS_CPU_CLOCK = 2
CPU_SECONDS = 900  # for a worker's complete life: the kernel enforces this if we fail to
IMPORT_FACTOR = 3
COUNTING_FACTOR = 10
GPU_HOST_BYTES = 8 << 30  # the memory limit with a GPU, whose driver needs a large part of it
MEMORY_BYTES = 1 << 30  # what a worker may use in addition to its zygote
MEMORY_VARIABLE = "ATTNLAB_WORKER_MB"  # a smaller limit, in MiB, for containers with little memory


@dataclass(frozen=True)
class Limits:
    """Limits of one request. Too much CPU time is the student's failure; wall time only stops a worker that waits."""

    cpu_s: float = 3.0
    wall_s: float = 20.0
    # All requests of a submission together, in wall time: a function that sleeps in each call must not take an hour.
    session_s: float = 300.0
    # How often a function may end its worker. After that, its remaining checks are not run.
    endings: int = 2

    def with_cpu(self, cpu_s: float | None) -> Limits:
        """Return these limits with another CPU time, if one is given. Those that stop a worker that waits grow with it.

        On a busy machine, a call that computes for 30 seconds may take minutes.
        """
        if cpu_s is None:
            return self
        factor = max(1.0, cpu_s / self.cpu_s)
        return replace(self, cpu_s=cpu_s, wall_s=factor * self.wall_s, session_s=factor * self.session_s)

    @property
    def for_import(self) -> Limits:
        """The limits of loading a submission: a notebook also runs the lesson's own cells, which may train a model."""
        return replace(self, cpu_s=IMPORT_FACTOR * self.cpu_s)

    @property
    def counting(self) -> Limits:
        """The limits of loading with meters: what a notebook computes by itself then takes several times as long."""
        return replace(self, cpu_s=COUNTING_FACTOR * self.cpu_s)  # one that only waits gets no more time


# The first call on a GPU loads kernels: this takes seconds of CPU time, and waits for the driver.
GPU_LIMITS = Limits(cpu_s=30.0, wall_s=60.0)


def memory_bytes() -> int:
    """Return what a worker may use here in addition to its zygote's memory.

    A container kills a process when its memory is used up. A worker must reach its own limit before that: then the
    student's function runs out of memory, and the grader is not killed.
    """
    return min(MEMORY_BYTES, int(os.environ.get(MEMORY_VARIABLE) or MEMORY_BYTES >> 20) << 20)


class DeadlineError(Exception):
    """A request has used up its limits; `waited` if it was waiting and not computing."""

    def __init__(self, evidence: str, *, waited: bool) -> None:
        super().__init__(evidence)
        self.waited = waited


class Deadline:
    """A check to call regularly while a worker is busy. It raises when the limits are used up.

    A worker counts as waiting if it used less than 1/50 of the last `wall_s` seconds as CPU time, so that a worker on a
    busy machine gets more time. One that stays just above this is stopped after five times `wall_s`.
    """

    def __init__(self, limits: Limits, pid: int) -> None:
        self.limits = limits
        self.pid = pid
        self.started = self.window = time.monotonic()
        self.window_cpu: float | None = None
        self.first_cpu = 0.0

    def __call__(self) -> None:
        cpu = cpu_seconds(self.pid)
        now = time.monotonic()
        if self.window_cpu is None:
            # Short calls never get here. So the CPU clock is first read a little late, in the student's favour.
            self.window_cpu = self.first_cpu = cpu
        if cpu - self.first_cpu > self.limits.cpu_s:
            raise DeadlineError(f"more than {self.limits.cpu_s:g} s of CPU time", waited=False)
        if now - self.window > self.limits.wall_s:
            if cpu - self.window_cpu < self.limits.wall_s / 50 or now - self.started > 5 * self.limits.wall_s:
                raise DeadlineError("waited for longer than allowed", waited=True)
            self.window, self.window_cpu = now, cpu


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process; 0 if it has just ended, which the channel reports."""
    if sys.platform == "linux":  # the kernel's clock of that process, which works even if /proc is hidden
        try:
            return time.clock_gettime((~pid << 3) | _PROCESS_CPU_CLOCK)
        except OSError:
            return 0.0
    if pid == os.getpid():  # a worker in this process, as in a browser, which has no psutil
        return time.process_time()
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


class MemoryPeak:
    """The peak of a process's memory, as the kernel tells it.

    Only root may open these files of a process in a jail. So a worker opens them itself, before it enters its jail, and
    sends them: an ordinary user then sees what root sees.
    """

    def __init__(self, pid: int, sent: Sequence[int]) -> None:
        """Keep the files that a process has sent, and open the others if we may."""
        names = ("status", "clear_refs")
        self._files = [*sent, *(_opened(f"/proc/{pid}/{name}") for name in names[len(sent) :])]

    @staticmethod
    def own_files() -> list[int]:
        """Open these files of this process, as far as it may."""
        files = (_opened(f"/proc/self/{name}") for name in ("status", "clear_refs"))
        return [one for one in files if one is not None]

    def forget(self) -> bool:
        """Let the kernel count from now on. Return whether it does."""
        try:
            return self._files[1] is not None and os.write(self._files[1], b"5") == 1
        except OSError:
            return False

    def read(self) -> int | None:
        """Return the peak in bytes; None where the kernel does not tell it, as of a process that has ended."""
        if self._files[0] is None:
            return None
        try:
            lines = os.pread(self._files[0], 1 << 14, 0).decode().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), None)

    def __del__(self) -> None:
        for one in self._files:
            if one is not None:
                os.close(one)


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_CLOEXEC | (os.O_WRONLY if path.endswith("clear_refs") else os.O_RDONLY))
    except OSError:
        return None

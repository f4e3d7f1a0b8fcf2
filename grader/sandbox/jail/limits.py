"""Limits: what one request may use of the machine, watched from the trusted side, and what a worker may in all."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

__tracebackhide__ = True  # pytest shows a student their own failure, not our proxy

_PROCESS_CPU_CLOCK = 2
CPU_SECONDS = 900  # for a worker's whole life: the kernel's word, should ours fail
GPU_HOST_BYTES = 8 << 30  # the same with a GPU, whose driver keeps a good part of it
MEMORY_BYTES = 1 << 30  # what a worker may add to what its zygote has already
MEMORY_VARIABLE = "ATTNLAB_WORKER_MB"  # less than that, where a container has less to give


@dataclass(frozen=True)
class Limits:
    """What one request may use. CPU time fails a student; wall time only stops a worker that waits."""

    cpu_s: float = 3.0
    wall_s: float = 20.0
    # All requests of a submission together, by the clock: a function that sleeps in each call costs a class no hour.
    session_s: float = 300.0
    # How often one function may end its worker before its remaining checks are not run.
    endings: int = 2


# A first call on a GPU loads its kernels: that takes the processor seconds, and the driver lets it wait.
GPU_LIMITS = Limits(cpu_s=30.0, wall_s=60.0)


def memory_bytes() -> int:
    """Return what a worker may add to its zygote's memory here.

    Where a container ends whoever asks for more than it has, a worker has to meet its own limit first: then it is the
    student's function that runs out of memory, and not the grader that is killed.
    """
    return min(MEMORY_BYTES, int(os.environ.get(MEMORY_VARIABLE) or MEMORY_BYTES >> 20) << 20)


class DeadlineError(Exception):
    """A request has used up its limits; `waited` if it did so without computing."""

    def __init__(self, evidence: str, *, waited: bool) -> None:
        super().__init__(evidence)
        self.waited = waited


class Deadline:
    """Asked every now and then while a worker is busy; raises when it has used up its limits.

    A worker waits if it used under a fiftieth of the last `wall_s` seconds: a starved one gets more. One that keeps
    just above that is stopped after five times `wall_s`.
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
            # Short calls never come here, so the CPU clock is read a moment late, in the student's favour.
            self.window_cpu = self.first_cpu = cpu
        if cpu - self.first_cpu > self.limits.cpu_s:
            raise DeadlineError(f"more than {self.limits.cpu_s:g} s of CPU time", waited=False)
        if now - self.window > self.limits.wall_s:
            if cpu - self.window_cpu < self.limits.wall_s / 50 or now - self.started > 5 * self.limits.wall_s:
                raise DeadlineError("waited for longer than allowed", waited=True)
            self.window, self.window_cpu = now, cpu


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process; 0 if it has just ended, which the channel will say."""
    if sys.platform == "linux":  # the kernel's clock of that process, which hidden folders in /proc do not hide
        try:
            return time.clock_gettime((~pid << 3) | _PROCESS_CPU_CLOCK)
        except OSError:
            return 0.0
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)

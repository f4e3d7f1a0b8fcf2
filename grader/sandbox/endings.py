"""Classification of how a worker ended: a kind that students see, and evidence for the instructor."""

from __future__ import annotations

import signal

from grader.core.errors import Ending
from grader.sandbox.jail.limits import CPU_SECONDS, MEMORY_BYTES
from grader.sandbox.jail.spawner import Exit, WorkerLostError
from grader.sandbox.jail.zygote import OUT_OF_MEMORY

__tracebackhide__ = True


def classify(ended: Exit | None, *, jailed: bool, memory: int = MEMORY_BYTES) -> Ending:
    """Return how a worker ended after it closed its channel. `ended` is None if it had to be killed after that.

    A jailed worker cannot send itself SIGKILL. If SIGKILL ended it, and it used neither its time nor much memory,
    another process killed it. Then no verdict may depend on it, and WorkerLostError is raised.
    """
    if ended is None:
        return Ending("protocol", "closed its channel and kept running")
    used = f"{ended.cpu_s or 0:.1f} s of CPU time, at most {ended.added_bytes >> 20} MiB of memory"
    if ended.code == OUT_OF_MEMORY:
        return Ending("memory", f"exit status {ended.code}, {used}")
    if ended.code >= 0:
        return Ending("exit", f"exit status {ended.code}")
    name = _name(-ended.code)
    if name == "SIGSYS":
        return Ending("syscall", "SIGSYS: a system call that ends the process in the jail")
    if name == "SIGXCPU" or (ended.cpu_s or 0) > 0.99 * CPU_SECONDS:
        return Ending("deadline", f"{name}, {used}")
    if jailed and name == "SIGKILL":
        if ended.added_bytes < memory // 2:
            raise WorkerLostError("a worker was killed by another process")
        return Ending("memory", f"{name}, {used}")
    if ended.added_bytes > 0.9 * memory:
        return Ending("memory", f"{name}, {used}")
    return Ending("crash", name)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

"""How a worker ended, for students and instructors, and the line it was in: for a message, never for a verdict."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader.core.errors import Ending
from grader.sandbox.jail.limits import CPU_SECONDS, MEMORY_BYTES
from grader.sandbox.jail.spawner import Exit, WorkerLostError
from grader.sandbox.jail.zygote import OUT_OF_MEMORY

if TYPE_CHECKING:
    import socket

__tracebackhide__ = True

WAIT_SECONDS = 2.0  # for a worker that does not answer; it is killed in any case
MOST_BYTES = 64 << 10
_FRAME = re.compile(rb'File "([^"\n]{1,300})", line (\d{1,7}) in ')


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


def read_place(sock: socket.socket, lines: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the innermost of the student's files and lines in what faulthandler writes; None if there is none.

    `lines` has the number of lines of each file. Whatever the worker sends, the answer is one of these lines.
    """
    started = time.monotonic()
    text = b""
    while len(text) < MOST_BYTES and time.monotonic() - started < WAIT_SECONDS:
        try:
            chunk = sock.recv(4096)
        except (TimeoutError, BlockingIOError):
            continue
        except OSError:
            return None
        if not chunk:
            return None
        text += chunk
        for file, line in _FRAME.findall(text):
            name = file.decode("utf-8", "replace")
            if 0 < int(line) <= lines.get(name, 0):
                return name, int(line)
    return None

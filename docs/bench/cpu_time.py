"""The CPU time of a command with all its processes, and the memory of the command itself."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from docs.bench.command import FINE, CommandFailedError

SAMPLE_SECONDS = 0.2


@dataclass(frozen=True)
class CpuTime:
    """One run of a command."""

    seconds: float  # on the clock
    cpu: float  # of all its processes
    own_cpu: float  # of the command itself
    memory: int  # of the command itself, at most


def cpu_time(command: Sequence[str], folder: Path) -> CpuTime:
    """Run a command of ours.

    A process that is killed takes its CPU time with it, so its parent cannot know it. We look at all processes several
    times a second instead: the time that each has used, and that of its children that have ended.
    """
    started = time.perf_counter()
    total = own = 0.0
    memory = 0
    over = threading.Event()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:

        def sample() -> None:
            nonlocal total, own, memory
            running = psutil.Process(process.pid)
            while not over.wait(SAMPLE_SECONDS):
                with contextlib.suppress(psutil.Error):
                    times = running.cpu_times()
                    own, memory = times.user + times.system, max(memory, running.memory_info().rss)
                    total = max(total, sum(map(_used, [running, *running.children(recursive=True)])))

        thread = threading.Thread(target=sample)
        thread.start()
        try:
            _, said = process.communicate()
        finally:
            over.set()
            thread.join()
    if process.returncode not in FINE:
        last = next(iter(reversed(said.strip().splitlines())), "")
        raise CommandFailedError(f"{command[0]} ended with {process.returncode}: {last}")
    return CpuTime(time.perf_counter() - started, total, own, memory)


def _used(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0

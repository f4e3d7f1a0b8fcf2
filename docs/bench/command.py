"""Runs of `attn` as a process: the time and the memory they take."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ATTN = str(Path(sys.executable).with_name("attn"))
SAMPLE_SECONDS = 0.05
GRADING = ("grader.grading.process", "grader.grading.template")
FINE = (0, 1)  # 1: not all have full marks


class CommandFailedError(Exception):
    """A command of ours failed, perhaps because there is no jail. The message is its last line of output."""


@dataclass(frozen=True)
class Memory:
    """Resident memory of a command's processes at one moment, in bytes."""

    grader: int = 0  # the command and its grading processes
    everything: int = 0  # with zygotes and workers, whose shared pages count for each of them


@dataclass(frozen=True)
class Ran:
    """One run of a command: its time, and the most memory it had."""

    seconds: float
    peak: Memory = Memory()


def timed(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def grade_class(course: Path, submissions: Path, to: Path, *options: str, watched: bool = False) -> Ran:
    """Run `attn grade` on a class; with `watched`, also measure its memory."""
    return run([ATTN, "grade", str(submissions), "--to", str(to), *options], course, watched=watched)


def run(command: Sequence[str], folder: Path, *, watched: bool = False) -> Ran:
    """Run a command of ours in a folder."""
    started = time.perf_counter()
    with (
        subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process,
        _watch(process.pid) if watched else contextlib.nullcontext([Memory()]) as samples,
    ):
        _, said = process.communicate()
        seconds = time.perf_counter() - started
    if process.returncode not in FINE:
        last = next(iter(reversed(said.strip().splitlines())), "")
        raise CommandFailedError(f"attn {command[1]} ended with {process.returncode}: {last}")
    peak = Memory(max(one.grader for one in samples), max(one.everything for one in samples))
    return Ran(seconds, peak)


@contextlib.contextmanager
def _watch(pid: int) -> Iterator[list[Memory]]:
    """Sample the memory of a process and its descendants."""
    samples = [Memory()]
    over = threading.Event()

    def sample() -> None:
        process = psutil.Process(pid)
        while not over.wait(SAMPLE_SECONDS):
            with contextlib.suppress(psutil.Error):
                samples.append(_memory(process))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()


def _memory(command: psutil.Process) -> Memory:
    below = command.children(recursive=True)
    # Select grading processes by their command line. A worker that has just ended has none.
    grading = [one for one in below if set(GRADING) & set(_words(one))]
    return Memory(_resident([command, *grading]), _resident([command, *below]))


def _words(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return list(process.cmdline())
    return []


def _resident(processes: list[psutil.Process]) -> int:
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):  # workers come and go
            total += process.memory_info().rss
    return total

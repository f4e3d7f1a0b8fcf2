"""Handles of grading processes, for the command that uses them: start one or fork it, ask it, end it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import grader
from grader.core.json_record import to_json
from grader.core.report import Report, report_from
from grader.course.module import Backend, CourseError, course_error_from
from grader.grading.workers import NoGpuError, NoJailError, TellSlowCheck
from grader.sandbox.jail.view import ONE_THREAD
from grader.submission.submission import Submission

ALLOW_UNJAILED, GPU = "allow-unjailed", "gpu"  # flags of a grading process
ORDER, ANY_CORE = struct.Struct("!i"), -1  # of a template: the core that a new process stays on
CLOSE_SECONDS = 10.0
CAN_FORK = sys.platform == "linux"  # elsewhere a process with NumPy cannot be forked, or does not end with its parent
# Why nothing can be graded, in the answer of a grading process.
NO_JAIL, NO_GPU, COURSE, NO_PROCESS, FAULT = "no_jail", "no_gpu", "course", "no_process", "fault"


class NoProcessError(Exception):
    """Grading processes end before they answer anything, so the submissions are not the cause."""


class ProcessLostError(Exception):
    """A grading process ended before it answered."""


class GradingProcess:
    """One grading process."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers

    def ask(self, submission: Submission, tell: TellSlowCheck) -> Report:
        """Send one submission and return its report; `tell` gets every slow check that begins."""
        try:
            self._requests.write(json.dumps(to_json(submission)).encode() + b"\n")
            self._requests.flush()
            while "tell" in (answer := json.loads(self._answers.readline())):
                tell(*map(str, answer["tell"]))
            if "report" not in answer:
                raise_failure(answer)
            return report_from(answer["report"])
        except (OSError, ValueError):  # a closed pipe, or half an answer
            raise ProcessLostError(f"a grading process ended{self.how_it_ended()}") from None

    def how_it_ended(self) -> str:
        """Return the end of a sentence: its exit status, if that is known."""
        return ""

    def kill(self) -> None:
        """End it at once."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the input, and wait for the process to end its workers and itself; kill it if it takes too long."""
        raise NotImplementedError


class StartedProcess(GradingProcess):
    """A grading process that was started from scratch."""

    def __init__(self, root: Path, flags: Sequence[str]) -> None:
        self._process = start_python("grader.grading.process", str(root), *flags, pipes=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        super().__init__(self._process.stdin, self._process.stdout)

    def how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):  # its pipe may close a moment before it can be waited for
            return f" with {self._process.wait(1)}"
        return ""

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._requests.close()
        _wait_or_kill(self._process)
        self._answers.close()


class ForkedProcess(GradingProcess):
    """A grading process that was forked from a template, and ends with it."""

    def __init__(self, channel: socket.socket, template: Template) -> None:
        self._channel = channel
        self._template = template
        super().__init__(channel.makefile("wb"), channel.makefile("rb"))

    def kill(self) -> None:
        self._template.kill()  # only ever when all are killed

    def close(self) -> None:
        with contextlib.suppress(OSError):  # it may be gone, or take too long: then it ends with its template
            self._channel.shutdown(socket.SHUT_WR)
            self._channel.settimeout(CLOSE_SECONDS)
            while self._channel.recv(1 << 16):
                pass
        for one in (self._requests, self._answers, self._channel):
            with contextlib.suppress(OSError):
                one.close()


class Template:
    """A process that has imported what grading processes need. Each of them is forked from it, in milliseconds."""

    def __init__(self, root: Path, flags: Sequence[str], backend: Backend) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = start_python(
                "grader.grading.template", str(theirs.fileno()), backend, str(root), *flags, passed=theirs.fileno()
            )

    def fork(self, core: int | None) -> ForkedProcess | None:
        """Return a new process, on one core or any, without waiting for it; None if the template has ended."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [ORDER.pack(ANY_CORE if core is None else core)], [theirs.fileno()])
        except OSError:
            ours.close()
            return None
        return ForkedProcess(ours, self)

    def kill(self) -> None:
        """End it at once, and all processes that were forked from it."""
        self._process.kill()

    def close(self) -> None:
        """End it, and what is left of the processes that were forked from it."""
        self._control.close()
        _wait_or_kill(self._process)


def start_python(
    module: str, *arguments: str, pipes: bool = False, passed: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a module of ours as a program of its own, with pipes or without."""
    # The process must run this code, not that of an installed package.
    path = os.pathsep.join(filter(None, [str(Path(grader.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]))
    standard = subprocess.PIPE if pipes else subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=standard,
        stdout=standard,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        pass_fds=[] if passed is None else [passed],
        start_new_session=True,  # Ctrl-C is for the command, which ends this process itself
    )


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(CLOSE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def failure_of(error: Exception) -> dict[str, Any]:
    """Return the reason why nothing can be graded as data: a grading process answers with it instead of a report."""
    if isinstance(error, NoJailError):
        return {"error": NO_JAIL}
    if isinstance(error, NoGpuError):
        return {"error": NO_GPU, "why": str(error)}
    if isinstance(error, CourseError):
        return {"error": COURSE, "why": error.as_data()}
    if isinstance(error, NoProcessError):
        return {"error": NO_PROCESS, "why": str(error)}
    return {"error": FAULT, "why": "".join(traceback.format_exception(error))}


def raise_failure(answer: dict[str, Any]) -> NoReturn:
    """Raise the exception that the data describes."""
    if answer["error"] == NO_JAIL:
        raise NoJailError
    if answer["error"] == NO_GPU:
        raise NoGpuError(answer["why"])
    if answer["error"] == COURSE:
        raise course_error_from(answer["why"])
    if answer["error"] == NO_PROCESS:
        raise NoProcessError(answer["why"])
    raise RuntimeError("a grading process failed:\n" + answer["why"])

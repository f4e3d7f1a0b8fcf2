"""Spawners, which start worker processes. `ZygoteSpawner` forks them from a warm process and jails them by its plan."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from grader.core.machine import Tier
from grader.course.module import Backend
from grader.sandbox.jail.limits import MemoryPeak, cpu_seconds
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.view import bubblewrap, clean_environment, compiler_environment, view_for
from grader.sandbox.jail.zygote import LINUX, MESSAGE_BYTES, pack

# A zygote answers at once. If it takes longer than this, the machine has a problem, not the student.
START_SECONDS = 120.0
CLOSE_SECONDS = 0.2


class JailError(Exception):
    """The jail could not be set up: this machine does not support this tier."""


class WorkerLostError(Exception):
    """The system around the worker failed. No verdict may depend on it."""


@dataclass(frozen=True)
class Exit:
    """How a process ended: `code` is its exit status, or minus the signal that killed it."""

    code: int
    cpu_s: float | None = None
    added_bytes: int = 0  # its peak memory in addition to its zygote's


@dataclass(frozen=True)
class Process:
    """A running worker: our end of its channel, and functions to end it and to learn how it ended."""

    pid: int
    sock: socket.socket
    kill: Callable[[], None]
    wait: Callable[[float], Exit | None]  # takes a timeout in seconds; None if it has not ended by then
    dismiss: Callable[[], None]  # kill it without waiting to learn how it ended
    ask_where: Callable[[], None] = lambda: None  # it writes the line it is in into its channel
    allow: Callable[[float], None] = lambda _: None  # told the CPU time of the next request, if it must watch itself
    peak: MemoryPeak | None = None  # where the kernel tells it

    def forget_peak(self) -> bool:
        """Let the kernel count the peak of its memory from now on. Return whether it does."""
        return self.peak is not None and self.peak.forget()

    def usage(self) -> tuple[float, int] | None:
        """Return the CPU time and the peak of memory, as the kernel tells them; None where it does not."""
        peak = None if self.peak is None else self.peak.read()
        return None if peak is None else (cpu_seconds(self.pid), peak)


class Spawner(Protocol):
    """Starts new worker processes until it is closed."""

    backend: Backend
    tier: Tier
    memory: int  # what a worker may use in addition to its zygote

    def spawn(self) -> Process:
        """Return a new process, ready to load a submission."""

    def again(self) -> Spawner:
        """Return a new spawner of the same kind, never of a lower tier; JailError if that fails."""

    def close(self) -> None:
        """End every process that it started."""


class Closing:
    """A spawner that is closed at the end of a `with` block."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class ZygoteSpawner(Closing):
    """Forks workers from one warm process, so that start-up and imports happen once.

    The zygote dies with the thread that started it, because for the kernel that thread is its parent.
    """

    def __init__(self, plan: JailPlan, *, wait: bool = True) -> None:
        """Start a zygote. With `wait=False`, `confirm` checks later whether its jail holds."""
        control, theirs = socket.socketpair()
        self._connect(plan, control)
        self._scratch = (
            tempfile.TemporaryDirectory(prefix="attn-", ignore_cleanup_errors=True) if plan.compiles else None
        )
        environment = clean_environment(gpu=bool(plan.devices))
        if self._scratch is not None:
            environment |= compiler_environment(self._scratch.name)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [*_wrapping(plan), *python_command("grader.sandbox.jail.zygote", theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env=environment,
                    stdin=subprocess.PIPE,  # for the plan, which may be too long for an argument
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,  # for the reason why it could not start; its workers have no stderr
                    start_new_session=True,  # Ctrl-C must reach only us
                )
        except OSError as error:
            self._control.close()
            raise JailError(str(error)) from None
        try:
            self._send_plan(plan)
            if wait:
                self.confirm()
        except BaseException:
            self.close()
            raise

    def _connect(self, plan: JailPlan, control: socket.socket) -> None:
        self.plan = plan
        self.backend: Backend = plan.backend
        self.tier: Tier = plan.tier
        self.memory = plan.memory
        self._control = control
        self._ended: dict[int, Exit] = {}
        self._dismissed: set[int] = set()
        self._spawned: deque[_Spawned] = deque()
        self._ordered: socket.socket | None = None
        self._confirmed = False
        self._closed = False

    def confirm(self) -> None:
        """Wait until the zygote says that its jail holds. If not, close it and raise JailError."""
        if self._confirmed:
            return
        try:
            self._expect_ready()
        except BaseException:
            self.close()
            raise
        self._confirmed = True

    def _send_plan(self, plan: JailPlan) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as stdin:  # if it is dead, stderr says why
            stdin.write(json.dumps(asdict(plan)).encode())

    def _expect_ready(self) -> None:
        try:
            message = self._receive(START_SECONDS)
        except WorkerLostError:
            message = None
        if message is None or message[0] != ["ready"]:
            raise JailError(self._last_words() or "the zygote does not answer")

    def spawn(self) -> Process:
        """Return the worker that was ordered last time and order the next, which is forked in the meantime."""
        self.confirm()
        ours = self._ordered or self._order()
        self._ordered = None
        try:
            spawned = self._next_spawned()
            self._ordered = self._order()
        except WorkerLostError as error:
            ours.close()
            raise WorkerLostError(f"no worker could be started: {error} {self._last_words()}".rstrip()) from None
        pid = spawned.zygote_pid
        peak = MemoryPeak(spawned.pid, _sent_first(ours)) if LINUX else None
        return Process(
            spawned.pid,
            ours,
            kill=lambda: self._kill(pid),
            wait=lambda seconds: self._wait(pid, seconds),
            dismiss=lambda: self._dismiss(pid),
            ask_where=lambda: self._tell("where", pid),
            peak=peak,
        )

    def again(self) -> ZygoteSpawner:
        return ZygoteSpawner(self.plan)

    def copy(self, core: int | None = None) -> CopiedSpawner:
        """Return a spawner with a copy of this zygote, which has nothing to import. JailError if the zygote is gone.

        The copy ends with this zygote, in whatever process it is used. With a core, it and its workers stay there.
        """
        try:
            return CopiedSpawner(self.plan, self._connection("copy", *([] if core is None else [core])))
        except OSError as error:
            raise JailError(f"the zygote is gone: {error}") from None

    def disconnect(self) -> None:
        """Leave the zygote to another process: close our end of its socket, and nothing else."""
        self._control.close()

    def _order(self) -> socket.socket:
        """Order a worker and return our end of its channel. Its pid arrives on the control socket."""
        try:
            return self._connection("spawn")
        except OSError as error:
            raise WorkerLostError(f"the zygote is gone: {error}") from None

    def _connection(self, *words: object) -> socket.socket:
        """Send words with one end of a new connection, and return the other end. OSError if the zygote is gone."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [pack(*words)], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
        return ours

    def _kill(self, pid: int) -> None:
        self._tell("kill", pid)

    def _tell(self, word: str, pid: int) -> None:
        try:
            self._control.send(pack(word, pid))
        except OSError as error:
            raise WorkerLostError(f"the zygote is gone: {error}") from None

    def _dismiss(self, pid: int) -> None:
        """Kill a worker without waiting: a worker with torch takes longer to end than most calls take."""
        self._dismissed.add(pid)
        self._kill(pid)

    def _wait(self, pid: int, seconds: float) -> Exit | None:
        deadline = time.monotonic() + seconds
        while pid not in self._ended:
            if not self._take(max(0.001, deadline - time.monotonic())):
                return None
        return self._ended.pop(pid)

    def _next_spawned(self) -> _Spawned:
        while not self._spawned:
            if not self._take(START_SECONDS):
                raise WorkerLostError(f"the zygote has not answered for {START_SECONDS:g} s")
        return self._spawned.popleft()

    def _receive(self, seconds: float) -> tuple[list[str], list[int]] | None:
        """Return the words of the next message and its descriptors; None if none arrives in time."""
        try:
            self._control.settimeout(seconds)
            message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
        except TimeoutError:
            return None
        except OSError as error:
            raise WorkerLostError(f"the zygote does not answer: {error}") from None
        if not message:
            raise WorkerLostError("the zygote is gone")
        return message.decode().split(), descriptors

    def _last_words(self) -> str:
        """Return the last error message of a zygote that has ended; empty if it has not."""
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return ""
        stderr = self._process.stderr
        text = "" if stderr is None or stderr.closed else stderr.read().decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if "rror:" in line or line.startswith("bwrap:")]
        return (errors or lines or [""])[-1].removeprefix("error: ")

    def _take(self, seconds: float) -> bool:
        """Receive one message of the zygote: a new worker, or the end of an old one. False if none arrives."""
        match self._receive(seconds):
            case None:
                return False
            case [pid], descriptors:
                self._spawned.append(_Spawned(int(pid), _pid_of(descriptors[0]) if descriptors else int(pid)))
            case [pid, _, _, _], _ if int(pid) in self._dismissed:
                self._dismissed.remove(int(pid))
            case [pid, code, cpu, added], _:
                self._ended[int(pid)] = Exit(int(code), float(cpu), int(added))
        return True

    def _hang_up(self) -> None:
        if self._ordered is not None:
            self._ordered.close()
            self._ordered = None
        self._control.close()

    def close(self) -> None:
        self._hang_up()
        if self._closed:  # its pid may be that of another process by now
            return
        self._closed = True
        if self.plan.has("namespaces"):  # the kernel ends all its children with it, so it needs no time to clean up
            kill_all(self._process)  # bubblewrap's second process is not yet bound to the first while they start
        try:
            # Unjailed workers may have started other processes, which only the zygote can end.
            self._process.wait(CLOSE_SECONDS if self.plan.layers else START_SECONDS)
        except subprocess.TimeoutExpired:  # perhaps still importing; its children end with it
            kill_all(self._process)
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
        if self._scratch is not None:
            self._scratch.cleanup()


class CopiedSpawner(ZygoteSpawner):
    """Forks workers from the copy of a zygote, which ends when its socket closes."""

    def __init__(self, plan: JailPlan, control: socket.socket) -> None:
        self._connect(plan, control)

    def _last_words(self) -> str:
        return ""  # only the process that started the first zygote can read them

    def close(self) -> None:
        self._hang_up()


@dataclass(frozen=True)
class _Spawned:
    """The pid of a new worker as the zygote sees it, and as we see it."""

    zygote_pid: int
    pid: int


def _pid_of(descriptor: int) -> int:
    """Return the pid, as we see it, of a pidfd, and close the pidfd."""
    try:
        lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
    except OSError as error:
        raise WorkerLostError(f"the pid of a worker could not be read: {error}") from None
    finally:
        os.close(descriptor)
    pids = [int(line.removeprefix("Pid:")) for line in lines if line.startswith("Pid:")]
    if not pids or pids[0] < 1:
        raise WorkerLostError("a worker ended before it received the submission")
    return pids[0]


def _sent_first(sock: socket.socket) -> list[int]:
    """Return the descriptors that a worker sends before it enters its jail; none from a worker that has ended."""
    sock.settimeout(START_SECONDS)
    try:
        return socket.recv_fds(sock, 1, 2, socket.MSG_CMSG_CLOEXEC)[1]
    except OSError:
        return []


def _wrapping(plan: JailPlan) -> list[str]:
    """Return the command that wraps a zygote."""
    if not plan.has("view"):
        return []
    return bubblewrap(view_for(plan.backend), user_namespace=plan.uid is None, devices=plan.devices)


def python_command(module: str, *arguments: object) -> list[str]:
    """Return the command that runs a module of ours."""
    return [sys.executable, "-P", "-s", "-m", module, *map(str, arguments)]


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its process group."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()

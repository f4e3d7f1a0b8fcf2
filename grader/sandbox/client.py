"""The trusted side of one submission: a conversation with its worker, with limits, respawned when it ends."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.errors import (
    Ending,
    StudentEndedError,
    StudentError,
    StudentGoneError,
    StudentMissingError,
    StudentRaisedError,
    StudentReturnedError,
)
from grader.sandbox.channel import POLL_SECONDS, Channel, ClosedError
from grader.sandbox.spawn import START_SECONDS, Exit, Process, Spawner, WorkerLostError
from grader.sandbox.wire import ProtocolError

MAX_PRINTED = 65_536
IMPORT = "import"
MODULE = 0  # the handle of the student's module itself
Ref = tuple[int, tuple[str, ...]]


@dataclass(frozen=True)
class Limits:
    """What one request may use. CPU time fails a student; wall time only stops a worker that waits."""

    cpu_s: float = 3.0
    wall_s: float = 20.0
    # How often one function may end its worker before its remaining checks are not run.
    endings: int = 2


@dataclass(frozen=True)
class Program:
    """What a worker loads: sources by slug, the slug being graded, and the names it should define."""

    files: Mapping[str, Mapping[str, Any]]
    main: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Loaded:
    """What came of loading: the names defined, and the errors of the first cells that raised."""

    defined: tuple[str, ...]
    errors: tuple[StudentRaisedError, ...]


class _OutOfPatienceError(Exception):
    def __init__(self, evidence: str, *, waited: bool) -> None:
        super().__init__(evidence)
        self.waited = waited


class Session:
    """One submission's workers, one at a time; `generation` tells them apart.

    Endings are counted per `owner`, the function or class being called: a function that kills its worker
    uses up its own chances, never those of an honest one beside it.
    """

    def __init__(self, spawner: Spawner, program: Program, limits: Limits) -> None:
        self.spawner = spawner
        self.program = program
        self.limits = limits
        self.generation = 0
        self.cpu_s: float | None = 0.0
        self.printed = ""
        self._process: Process | None = None
        self._channel: Channel | None = None
        self._endings: Counter[str] = Counter()
        self._serial = 0

    def load(self) -> Loaded:
        """Start a worker and load the program into it; return what it defined and what went wrong."""
        self._start()
        program = {"files": self.program.files, "main": self.program.main, "names": list(self.program.names)}
        reply = self._exchange({"op": "load", **program}, IMPORT, IMPORT)
        match self._value(reply, IMPORT, IMPORT):
            case {"defined": list(defined), "errors": list(errors)} if _are_names(defined):
                return Loaded(tuple(defined), tuple(_raised(IMPORT, error) for error in errors))
        raise self.ended(IMPORT, IMPORT, Ending("protocol", "an answer to `load` of no known form"))

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send one request and return the value of its reply; `call` names it in errors."""
        for name in (owner, IMPORT):
            if self._endings[name] >= self.limits.endings:
                raise StudentGoneError(f"not run: {name} has ended its process {self.limits.endings} times")
        if self._channel is None:
            self.load()
        return self._value(self._exchange(message, call, owner), call, owner)

    def close(self) -> None:
        """End the worker, if there is one, and count the CPU time it used."""
        if self._process is not None:
            self._stop(kill=True)

    def _start(self) -> None:
        process = self.spawner.spawn()
        self._process = process
        self._channel = Channel(process.sock, tensors=self.spawner.backend == "torch")

    def _stop(self, *, kill: bool) -> Exit | None:
        """Put the worker away; None if it had to be killed and how it would have ended is not known."""
        assert self._process is not None
        assert self._channel is not None
        process, channel = self._process, self._channel
        self._process = self._channel = None
        self.generation += 1
        channel.close()
        natural = None if kill else self._natural_exit(process)
        if natural is None:
            process.kill()
        ended = natural or process.wait(START_SECONDS)
        if ended is None:
            raise WorkerLostError("a worker was killed and did not end")
        self.cpu_s = None if self.cpu_s is None or ended.cpu_s is None else self.cpu_s + ended.cpu_s
        return natural

    def _natural_exit(self, process: Process) -> Exit | None:
        """Wait for a worker that closed its channel to end by itself; killing it at once would race with it."""
        patience = _Patience(self.limits, process.pid)
        while (ended := process.wait(POLL_SECONDS)) is None:
            try:
                patience()
            except _OutOfPatienceError:
                return None
        return ended

    def _exchange(self, message: dict[str, Any], call: str, owner: str) -> dict[str, Any]:
        """Send a request, wait within the limits, and return a reply of known form."""
        assert self._channel is not None
        assert self._process is not None
        self._serial += 1
        patience = _Patience(self.limits, self._process.pid)
        try:
            self._channel.send({"id": self._serial, **message}, patience=patience)
            reply: dict[str, Any] = self._channel.receive(patience)
        except ProtocolError as error:
            raise self.ended(call, owner, Ending("protocol", str(error))) from None
        except ClosedError:
            raise self.ended(call, owner, None) from None
        except _OutOfPatienceError as error:
            raise self.ended(call, owner, Ending("deadline", str(error)), waited=error.waited) from None
        match reply:
            case {"id": self._serial, "printed": str(printed), "ok": _} if len(reply) == 3:
                self._note(printed)
            case {"id": self._serial, "printed": str(printed), "error": dict()} if len(reply) == 3:
                self._note(printed)
            case _:
                raise self.ended(call, owner, Ending("protocol", "a reply of no known form"))
        return reply

    def _note(self, printed: str) -> None:
        self.printed = (self.printed + printed)[:MAX_PRINTED]

    def ended(self, call: str, owner: str, ending: Ending | None, *, waited: bool = False) -> StudentEndedError:
        """Put the worker away and return the error that says how it ended."""
        ended = self._stop(kill=ending is not None)
        self._endings[owner] += 1
        return StudentEndedError(call, ending or _classify(ended), waited=waited)

    def _value(self, reply: dict[str, Any], call: str, owner: str) -> Any:
        if "ok" in reply:
            return reply["ok"]
        raise self.error(reply["error"], call, owner)

    def error(self, error: object, call: str, owner: str) -> StudentError:
        """Return a reply's error as the exception a test should see."""
        match error:
            case {"kind": "missing", "name": str(name)}:
                return StudentMissingError(f"{name} is not defined")
            case {"kind": "unsendable", "why": str(why)}:
                return StudentReturnedError(f"{call} returned a value that {why}")
            case {"kind": "raised"}:
                return _raised(call, error)
        return self.ended(call, owner, Ending("protocol", "an error of no known form"))


class _Patience:
    """Asked every now and then while a worker is busy; raises when it has used up its limits.

    A worker waits if it used under a hundredth of the last `wall_s` seconds: a starved one gets more.
    """

    def __init__(self, limits: Limits, pid: int) -> None:
        self.limits = limits
        self.pid = pid
        self.window = time.monotonic()
        self.window_cpu: float | None = None
        self.first_cpu = 0.0

    def __call__(self) -> None:
        cpu = _cpu_seconds(self.pid)
        if self.window_cpu is None:
            # Short calls never come here, so the CPU clock is read a moment late, in the student's favour.
            self.window_cpu = self.first_cpu = cpu
        if cpu - self.first_cpu > self.limits.cpu_s:
            raise _OutOfPatienceError(f"more than {self.limits.cpu_s:g} s of CPU time", waited=False)
        if time.monotonic() - self.window > self.limits.wall_s:
            if cpu - self.window_cpu < self.limits.wall_s / 100:
                raise _OutOfPatienceError(f"idle for {self.limits.wall_s:g} s", waited=True)
            self.window, self.window_cpu = time.monotonic(), cpu


def _cpu_seconds(pid: int) -> float:
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended: the channel will say so
    return float(times.user + times.system)


def _classify(ended: Exit | None) -> Ending:
    if ended is None:
        return Ending("protocol", "closed its channel and went on")
    if ended.code >= 0:
        return Ending("exit", f"exit status {ended.code}")
    try:
        name = signal.Signals(-ended.code).name
    except ValueError:
        name = f"signal {-ended.code}"
    return Ending("crash", name)


def _are_names(names: list[Any]) -> bool:
    return all(type(name) is str for name in names)


def _raised(call: str, error: object) -> StudentRaisedError:
    match error:
        case {
            "types": [str(), *_] as types,
            "message": str(message),
            "file": str(file),
            "line": int(line),
            "traceback": str(traceback),
        } if _are_names(types):
            return StudentRaisedError(call, tuple(types), message, file, line, traceback)
    # A worker that lies about its own exception only says that it failed.
    return StudentRaisedError(call, ("an exception",), "", "", 0, "")

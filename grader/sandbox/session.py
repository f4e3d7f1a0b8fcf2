"""The session of one submission: requests to its worker, with limits. A worker that ended is replaced."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.core.errors import IMPORT, Ending, StudentEndedError, StudentRaisedError
from grader.sandbox.endings import read_place
from grader.sandbox.jail.limits import Deadline, DeadlineError, Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.protocol.channel import ClosedError
from grader.sandbox.protocol.replies import MalformedError, error_of, names, raised, read_reply
from grader.sandbox.protocol.wire import ProtocolError
from grader.sandbox.session_record import Allowance, RecordedRequest, SessionRecord
from grader.sandbox.worker_slot import LiveWorker, Loading, WorkerSlot

__tracebackhide__ = True

Ref = tuple[int, tuple[str, ...]]
Busy = Callable[[str, float], None]  # called several times a second while student code runs: what runs, for how long
LONG = ("load", "measure", "prepare", "watch")  # they load the program, or make many calls
ONE_IN = 4  # of the calls on the simulated GPU, this part is followed step by step
# Code that torch calls back while it answers: only when it is followed are its own calls simulated, too.
_CALLED_BACK = re.compile(rb"hook|\bFunction\b|checkpoint|custom_op|\bvmap\b|map_\b|apply_\b")


@dataclass(frozen=True)
class Program:
    """What a worker loads: sources by slug, the slug to grade, and the names it should define."""

    files: Mapping[str, Mapping[str, Any]]
    main: str
    names: tuple[str, ...]

    @property
    def own_files(self) -> Mapping[str, Mapping[str, Any]]:
        """The sources that the student wrote: all but the course's fallbacks."""
        return {slug: one for slug, one in self.files.items() if not one.get("given")}

    @property
    def lines(self) -> Mapping[str, int]:
        """The number of lines of every file. A notebook has `file[number]` for each cell."""
        return {
            f"{one['file']}[{number}]" if one["notebook"] else one["file"]: len(cell.splitlines())
            for one in self.files.values()
            for number, cell in enumerate(one["cells"], 1)
        }


@dataclass(frozen=True)
class Loaded:
    """The result of loading: the names defined, and the errors of the first cells that raised."""

    defined: tuple[str, ...]
    errors: tuple[StudentRaisedError, ...]


class TracedCalls:
    """Chooses the calls on the simulated GPU that are followed step by step: it takes as long again as the call itself.

    These are the first of every function, and some of the others that code cannot foresee.
    """

    def __init__(self, files: Mapping[str, Mapping[str, Any]], seed: int) -> None:
        self._files = files
        self._rng = random.Random(seed)
        self._seen: set[str] = set()

    @cached_property
    def _always(self) -> bool:
        return any(_CALLED_BACK.search(cell) for one in self._files.values() for cell in one["cells"])

    def has_next(self, owner: str) -> bool:
        """Whether the next call of a function is one of them."""
        chosen = self._rng.randrange(ONE_IN) == 0
        first = owner not in self._seen
        self._seen.add(owner)
        return self._always or first or chosen


@dataclass(frozen=True)
class SessionOptions:
    """What a session does besides answering."""

    loading: Loading = "plain"  # how its first worker loads the program
    recorded: bool = False  # it keeps the requests of the checks, where NumPy is watched
    named: bool = False  # its workers name the torch functions that the calls of checks call
    is_on_gpu: bool = False  # its own workers have a real GPU
    traced: TracedCalls | None = None  # the calls on the simulated GPU that are followed step by step; None means all
    leaves_nothing: Callable[[], bool] = lambda: False  # whether no call can change what a later one does
    uncertified: Callable[[], str] = lambda: ""  # why what a worker observes of itself is in doubt, if it is
    tell: Callable[[str], None] = lambda _: None  # called before something that takes long
    busy: Busy = lambda *_: None

    def is_traced(self, owner: str) -> bool:
        """Whether the next call on the simulated GPU is followed step by step."""
        return self.traced is None or self.traced.has_next(owner)


PLAIN = SessionOptions()


class Session:
    """One submission's requests, to one worker at a time."""

    def __init__(
        self,
        spawner: Spawner,
        program: Program,
        limits: Limits,
        options: SessionOptions = PLAIN,
        gpu: Session | None = None,
    ) -> None:
        """Open a session; `gpu` is a session of the same submission on a real GPU, if there is another one."""
        self.program = program
        self.options = options
        self.gpu: Session | None = self if options.is_on_gpu else gpu
        self.worker = WorkerSlot(spawner, options.loading, options.leaves_nothing)
        self.record: SessionRecord = SessionRecord(None if gpu is None else gpu.record)
        self._limits = limits
        self._allowance = Allowance()
        self._serial = 0
        self._earlier: list[tuple[int, dict[str, Any]]] = []  # requests that need no reply, for which generation
        self._owners_before: frozenset[str] = frozenset()  # whose code had run in the worker when the check began
        self._called: set[str] = set()  # whose code the current check has called
        self._is_recording = False

    @contextmanager
    def checking(self, name: str, *, cpu_s: float | None = None, slow: bool = False) -> Iterator[None]:
        """Run a check inside a `with` block, with another CPU time if one is given.

        A slow check starts in a new process, so that it need not be repeated in one. Its calls are not recorded,
        either: with meters, they would take many times as long.
        """
        if slow:
            self.close()
        self._begin_check(name)
        usual, self._limits = self._limits, self._limits.with_cpu(cpu_s)
        self._is_recording = self.options.recorded and not slow
        try:
            yield
        finally:
            self._limits, self._is_recording = usual, False
        if slow:
            self.close()

    def _begin_check(self, name: str) -> None:
        self.record.begin_check(name)
        self._allowance.begin_check()
        self._owners_before, self._called = frozenset(self.worker.owners), set()
        self._earlier = []  # requests that the previous check made and never needed

    def start_afresh(self) -> bool:
        """Undo the check and end its worker, if other functions ran in that worker before; False if none did.

        What one function does to its process must not make another one fail.
        """
        if self._owners_before <= self._called:
            return False
        self.worker.renew()
        self.record.undo_check()
        self._allowance.undo_check()
        return True

    def load(self) -> Loaded:
        """Start a worker and load the program into it. Return the defined names and the errors."""
        self._start()
        names_wanted = list(self.program.names)
        program: dict[str, Any] = {"files": self.program.files, "main": self.program.main, "names": names_wanted}
        program |= {} if self.worker.loading == "plain" else {"how": self.worker.loading}
        program |= {"named": True} if self.options.named else {}
        # What it prints now, an earlier worker has printed, too.
        with self.record.printing_nothing() if self.worker.generation else nullcontext():
            answer = self._exchange({"op": "load", **program}, IMPORT, IMPORT)
        try:
            if type(answer) is not dict or type(answer.get("errors")) is not list:
                raise MalformedError
            errors = tuple(raised(error, IMPORT) for error in answer["errors"])
            return Loaded(names(answer.get("defined")), errors)
        except MalformedError:
            raise self.failure(IMPORT, IMPORT) from None

    def _start(self) -> None:
        self.worker.start()

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send one request and return the value of its reply; error messages name it by `call`."""
        self._allowance.require(self._limits, owner, IMPORT)
        if self.worker.live is None:
            self.load()
        self.worker.owners.add(owner)
        self._called.add(owner)
        message = self._with_earlier(message)
        if self._is_recording:
            self.record.requests.append(RecordedRequest(self.worker.generation, owner, message))
        if self.worker.live is not None and self.worker.live.take_renewal():
            message = {**message, "afresh": True}
        return self._exchange(message, call, owner)

    def _with_earlier(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a request together with the requests to carry out before it."""
        earlier = [one for generation, one in self._earlier if generation == self.worker.generation]
        self._earlier = []
        return {**message, "before": earlier} if earlier else message

    def request_later(self, message: dict[str, Any]) -> None:
        """Save a request that needs no reply. It is sent with the next request, which also raises its error."""
        self._earlier.append((self.worker.generation, message))

    def close(self) -> None:
        """End the worker, if there is one."""
        self.worker.close()

    def failure(self, call: str, owner: str, error: object = None) -> Exception:
        """Return the error of one call as the exception that a test sees.

        A worker whose reply has an unknown form is ended.
        """
        try:
            return error_of(error, call)
        except MalformedError:
            return self._ended(call, owner, Ending("protocol", "a reply of unknown form"))

    def _exchange(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send a request, wait within the limits, and return the answer or raise the error."""
        worker = self.worker.live
        if worker is None:
            raise RuntimeError("there is no worker")
        limits = self._limits.for_import if message["op"] in LONG else self._limits
        if message["op"] == "load" and self.worker.loading != "plain":
            limits = limits.counting
        deadline = Deadline(limits, worker.process.pid)
        worker.process.allow(limits.cpu_s)
        self._serial += 1
        started = time.monotonic()

        def patience() -> None:
            self.options.busy(owner, time.monotonic() - started)
            deadline()

        try:
            worker.channel.send({"id": self._serial, **message}, patience=patience)
            reply = read_reply(worker.channel.receive(patience), self._serial)
            self.record.note_changed(reply.changed, message, owner)
            self.record.calls.note_called(reply.called, owner)
        except ProtocolError as error:
            raise self._ended(call, owner, Ending("protocol", str(error))) from None
        except MalformedError:
            raise self.failure(call, owner) from None
        except ClosedError:
            raise self._ended(call, owner, None) from None
        except DeadlineError as error:
            ending = Ending("deadline", str(error), self._place(worker))
            raise self._ended(call, owner, ending, waited=error.waited) from None
        finally:
            self._allowance.take_time(self._limits, time.monotonic() - started)
        self.record.note_printed(reply)
        if not reply.ok:
            raise self.failure(call, owner, reply.content)
        return reply.content

    def _place(self, worker: LiveWorker) -> tuple[str, int] | None:
        """Return the line that a worker is in. It is to be killed, so what it sends now disturbs nothing."""
        worker.process.ask_where()
        return read_place(worker.channel.sock, self.program.lines)

    def _ended(self, call: str, owner: str, ending: Ending | None, *, waited: bool = False) -> StudentEndedError:
        """Remove the worker and return the error that says how it ended."""
        error = StudentEndedError(call, self.worker.end(ending, self._limits), waited=waited)
        self._allowance.take_ending(owner)
        return error

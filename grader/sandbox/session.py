"""The session of one submission: requests to its worker, with limits. A worker that ended is replaced."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from grader.core.errors import Ending, StudentEndedError, StudentGoneError, StudentRaisedError
from grader.sandbox.call_record import CallRecord
from grader.sandbox.endings import classify, read_place
from grader.sandbox.jail.limits import Deadline, DeadlineError, Limits, cpu_seconds
from grader.sandbox.jail.spawner import START_SECONDS, Exit, Process, Spawner, WorkerLostError
from grader.sandbox.protocol.channel import POLL_SECONDS, Channel, ClosedError
from grader.sandbox.protocol.device_findings import DeviceCall
from grader.sandbox.protocol.replies import MalformedError, error_of, names, raised, read_reply
from grader.sandbox.protocol.wire import ProtocolError
from grader.sandbox.traced_calls import TracedCalls

__tracebackhide__ = True

MAX_PRINTED = 65_536
IMPORT = "import"
Ref = tuple[int, tuple[str, ...]]


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


@dataclass(frozen=True)
class LiveWorker:
    """A running worker and our end of its channel."""

    process: Process
    channel: Channel


@dataclass(frozen=True)
class RecordedRequest:
    """A request of a check, whose code it was for, and which worker it went to."""

    generation: int
    owner: str
    message: dict[str, Any]


@dataclass(frozen=True)
class _CheckStart:
    """The state of the session when a check began."""

    name: str
    owners: frozenset[str]
    endings: Counter[str]
    printed: str
    calls: CallRecord


Loading = Literal["plain", "metered"]  # with meters at once: code must not see that it is loaded a second time
LONG = ("load", "measure", "prepare", "watch")  # they load the program, or make many calls
FIRST_HANDLE = 1 << 32  # handles above this are given by the session, those below by the worker


class Session:
    """One submission's workers, one at a time; `generation` is the number of workers that have ended.

    Endings are counted per `owner`, the function or class that is called. So a function that kills its worker uses up
    its own chances, never those of an honest function next to it.
    """

    def __init__(self, spawner: Spawner, program: Program, limits: Limits) -> None:
        self.spawner = spawner
        self.program = program
        self.limits = limits
        self.generation = 0
        self.cpu_s: float | None = 0.0
        self.printed = ""
        self.recorded: list[RecordedRequest] | None = None  # the requests of the checks, where NumPy is watched
        self.calls = CallRecord()
        self.gpu: Session | None = None  # a session of the same submission on a real GPU, if there is one
        self.loading: Loading = "plain"  # how a new worker loads the program
        self.named = False  # whether a new worker names the torch functions that the calls of checks call
        self.uncertified = ""  # why what the worker observes of itself is in doubt, if it is
        self.device_calls: list[DeviceCall] = []  # on a simulated or real GPU, in the current run of a check
        self.traced: TracedCalls | None = None  # on the simulated GPU; None means all
        self.leaves_nothing: Callable[[], bool] = lambda: False  # whether no call can change what a later one does
        self.tell: Callable[[str], None] = lambda _: None  # called before something that takes long
        self._worker: LiveWorker | None = None
        self._endings: Counter[str] = Counter()
        self._serial = 0
        self._earlier: list[dict[str, Any]] = []
        self._handles = FIRST_HANDLE
        self._seconds: defaultdict[Limits, float] = defaultdict(float)  # of all requests so far, by their limits
        self._owners: set[str] = set()  # whose code has run in the current worker
        self._called: set[str] = set()  # whose code the current check has called
        self._renewed = False  # whether the next request must run as in a new worker
        self._check = _CheckStart("", frozenset(), Counter(), "", CallRecord())

    @property
    def worker(self) -> LiveWorker | None:
        """The worker that runs the student's code; None if there is none."""
        return self._worker

    @property
    def is_fresh(self) -> bool:
        """Whether no function of the submission has been called in its worker yet."""
        return not self._owners

    @property
    def all_calls(self) -> CallRecord:
        """What is known about all calls so far, also those on a real GPU."""
        own, gpu = self.calls, self.gpu
        if gpu is None:
            return own
        return CallRecord(own.returned | gpu.calls.returned, gpu.calls.changes | own.changes, own.called)

    @property
    def has_new_change(self) -> bool:
        """Whether a function changed an argument in the current check, and in none before."""
        return len(self.calls.changes) > len(self._check.calls.changes)

    def is_traced(self, owner: str) -> bool:
        """Whether the next call on the simulated GPU is followed step by step."""
        return self.traced is None or self.traced.has_next(owner)

    def begin_check(self, name: str) -> None:
        """Save the state at the start of a check, for `start_afresh`."""
        owners = frozenset(self._owners)
        self._check = _CheckStart(name, owners, self._endings.copy(), self.printed, self.calls.copy())
        self._called = set()
        self._earlier = []  # requests that the previous check made and never needed
        self.device_calls = []

    @contextmanager
    def limited(self, cpu_s: float | None) -> Iterator[None]:
        """Allow another CPU time inside a `with` block, if one is given."""
        usual, self.limits = self.limits, self.limits.with_cpu(cpu_s)
        try:
            yield
        finally:
            self.limits = usual

    def start_afresh(self) -> bool:
        """Undo the check and end its worker, if other functions ran in that worker before; False if none did.

        What one function does to its process must not make another one fail.
        """
        if self._check.owners <= self._called:
            return False
        self.renew()
        self._endings, self.printed = self._check.endings, self._check.printed
        self.calls = self._check.calls.copy()
        return True

    def renew(self) -> None:
        """Let what follows run as in a new worker. Where calls leave nothing behind, the worker stays.

        It forgets its objects, its random numbers and which warnings it has shown, before it carries out a request.
        """
        if self._worker is None or not self.leaves_nothing():
            self.close()
            return
        worker = self._worker
        self._leave_worker()
        self._worker, self._renewed = worker, True

    @contextmanager
    def metered(self, *, returning: bool) -> Iterator[None]:
        """Load the program with meters inside a `with` block, in workers of their own.

        If it is `returning` to the plain program, code that leaves nothing behind gets its worker back, as in `renew`.
        """
        parked = self._worker if returning and self.leaves_nothing() else None
        if parked is None:
            self.close()
        else:
            self._leave_worker()
        self.loading = "metered"
        try:
            yield
        finally:
            self.close()
            self.loading = "plain"
            self._worker, self._renewed = parked, parked is not None

    def load(self) -> Loaded:
        """Start a worker and load the program into it. Return the defined names and the errors."""
        self._start()
        names_wanted = list(self.program.names)
        program: dict[str, Any] = {"files": self.program.files, "main": self.program.main, "names": names_wanted}
        program |= {} if self.loading == "plain" else {"how": self.loading}
        program |= {"named": True} if self.named else {}
        printed = self.printed
        answer = self._exchange({"op": "load", **program}, IMPORT, IMPORT)
        if self.generation:  # an earlier worker printed the same
            self.printed = printed
        try:
            if type(answer) is not dict or type(answer.get("errors")) is not list:
                raise MalformedError
            errors = tuple(raised(error, IMPORT) for error in answer["errors"])
            return Loaded(names(answer.get("defined")), errors)
        except MalformedError:
            raise self.malformed(IMPORT, IMPORT) from None

    def _start(self) -> None:
        process = self.spawner.spawn()
        self._worker = LiveWorker(process, Channel(process.sock, tensors=self.spawner.backend == "torch"))
        self._expect_ready(self._worker)

    def _expect_ready(self, worker: LiveWorker) -> None:
        """Wait until the worker is ready. It sends this before it reads any of the submission."""
        started = time.monotonic()

        def patience() -> None:
            if time.monotonic() - started > START_SECONDS:
                raise ClosedError("not ready in time")

        try:
            worker.channel.receive_byte(patience)
        except ClosedError as error:
            self._stop(kill=True)
            raise WorkerLostError(f"a worker ended before it received the submission: {error}") from None

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send one request and return the value of its reply; error messages name it by `call`."""
        for name in (owner, IMPORT):
            if self._endings[name] >= self.limits.endings:
                raise StudentGoneError(f"not run: {name} has ended its process {self.limits.endings} times")
        if self._seconds[self.limits] > self.limits.session_s:
            raise StudentGoneError(f"not run: the submission has taken more than {self.limits.session_s:g} s in total")
        if self._worker is None:
            self.load()
        self._owners.add(owner)
        self._called.add(owner)
        message = self.with_earlier(message)
        if self.recorded is not None:
            self.recorded.append(RecordedRequest(self.generation, owner, message))
        if self._renewed:
            message, self._renewed = {**message, "afresh": True}, False
        return self._exchange(message, call, owner)

    def with_earlier(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a request together with the requests to carry out before it."""
        earlier, self._earlier = self._earlier, []
        return {**message, "before": earlier} if earlier else message

    def request_later(self, message: dict[str, Any]) -> None:
        """Save a request that needs no reply. It is sent with the next request, which also raises its error."""
        self._earlier.append(message)

    def new_handle(self) -> int:
        """Return a handle for an object that a later request makes."""
        self._handles += 1
        return self._handles

    def close(self) -> None:
        """End the worker, if there is one, and add its CPU time."""
        if self._worker is None:
            return
        used = cpu_seconds(self._worker.process.pid)
        self._close().dismiss()
        self.cpu_s = None if self.cpu_s is None else self.cpu_s + used

    def student_error(self, error: object, call: str, owner: str) -> Exception:
        """Return the error of one call as the exception that a test sees."""
        try:
            return error_of(error, call)
        except MalformedError:
            return self.malformed(call, owner)

    def malformed(self, call: str, owner: str) -> StudentEndedError:
        """End a worker whose reply has an unknown form."""
        return self._ended(call, owner, Ending("protocol", "a reply of unknown form"))

    def _exchange(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send a request, wait within the limits, and return the answer or raise the error."""
        if self._worker is None:
            raise RuntimeError("there is no worker")
        channel = self._worker.channel
        limits = self.limits.for_import if message["op"] in LONG else self.limits
        if message["op"] == "load" and self.loading != "plain":
            limits = limits.counting
        patience = Deadline(limits, self._worker.process.pid)
        self._worker.process.allow(limits.cpu_s)
        self._serial += 1
        started = time.monotonic()
        try:
            channel.send({"id": self._serial, **message}, patience=patience)
            reply = read_reply(channel.receive(patience), self._serial)
            self.note_changed(reply.changed, message, owner)
            self.calls.note_called(reply.called, owner)
        except ProtocolError as error:
            raise self._ended(call, owner, Ending("protocol", str(error))) from None
        except MalformedError:
            raise self.malformed(call, owner) from None
        except ClosedError:
            raise self._ended(call, owner, None) from None
        except DeadlineError as error:
            ending = Ending("deadline", str(error), self._place())
            raise self._ended(call, owner, ending, waited=error.waited) from None
        finally:
            self._seconds[self.limits] += time.monotonic() - started
        self.printed = (self.printed + reply.printed)[:MAX_PRINTED]
        if not reply.ok:
            raise self.student_error(reply.content, call, owner)
        return reply.content

    def note_changed(self, changed: object, message: dict[str, Any], owner: str) -> None:
        """Note the arguments that a reply names as changed by the calls of a message."""
        self.calls.note(changed, [*message.get("before", ()), message], owner, self._check.name)

    def _place(self) -> tuple[str, int] | None:
        """Return the line that the worker is in. It is to be killed, so what it sends now disturbs nothing."""
        if self._worker is None:
            return None
        self._worker.process.ask_where()
        return read_place(self._worker.channel.sock, self.program.lines)

    def _ended(self, call: str, owner: str, ending: Ending | None, *, waited: bool = False) -> StudentEndedError:
        """Remove the worker and return the error that says how it ended."""
        own_exit = self._stop(kill=ending is not None)
        self._endings[owner] += 1
        ending = ending or classify(own_exit, jailed=self.spawner.tier != "none", memory=self.spawner.memory)
        return StudentEndedError(call, ending, waited=waited)

    def _stop(self, *, kill: bool) -> Exit | None:
        """Remove the worker. Return how it ended by itself; None if it had to be killed."""
        if self._worker is None:
            return None
        process = self._close()
        own_exit = None if kill else self._wait_for_exit(process)
        if own_exit is None:
            process.kill()
        ended = own_exit or process.wait(START_SECONDS)
        if ended is None:
            raise WorkerLostError("a worker did not end after it was killed")
        self.cpu_s = None if self.cpu_s is None or ended.cpu_s is None else self.cpu_s + ended.cpu_s
        return own_exit

    def _close(self) -> Process:
        """Forget the worker and return its process."""
        assert self._worker is not None
        process, channel = self._worker.process, self._worker.channel
        self._leave_worker()
        channel.close()
        return process

    def _leave_worker(self) -> None:
        """Forget the worker and every object in it."""
        self._worker = None
        self._renewed = False
        self._owners = set()
        self._earlier = []
        self.generation += 1

    def _wait_for_exit(self, process: Process) -> Exit | None:
        """Wait for a worker that closed its channel to end by itself; killing it now would hide how it ends."""
        patience = Deadline(self.limits, process.pid)
        while (ended := process.wait(POLL_SECONDS)) is None:
            try:
                patience()
            except DeadlineError:
                return None
        return ended

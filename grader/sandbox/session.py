"""The trusted side of one submission: a conversation with its worker, with limits, respawned when it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.core.errors import Ending, StudentEndedError, StudentGoneError, StudentRaisedError
from grader.sandbox.endings import classify
from grader.sandbox.jail.limits import Deadline, DeadlineError, Limits, cpu_seconds
from grader.sandbox.jail.spawner import START_SECONDS, Exit, Process, Spawner, WorkerLostError
from grader.sandbox.protocol.channel import POLL_SECONDS, Channel, ClosedError
from grader.sandbox.protocol.replies import MalformedError, error_of, names, raised, reply_parts
from grader.sandbox.protocol.wire import ProtocolError

__tracebackhide__ = True

MAX_PRINTED = 65_536
IMPORT = "import"
MODULE = 0  # the handle of the student's module itself
Ref = tuple[int, tuple[str, ...]]


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


@dataclass(frozen=True)
class LiveWorker:
    """A worker that is running, and our end of its channel."""

    process: Process
    channel: Channel


@dataclass(frozen=True)
class _CheckStart:
    """How things stood when a check began."""

    owners: frozenset[str]
    endings: Counter[str]
    printed: str


OURS = 1 << 32  # handles above are numbered here, those below by the worker


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
        self.gpu: Session | None = None  # the same submission where it has a GPU, for what is asked of it there
        self._worker: LiveWorker | None = None
        self._endings: Counter[str] = Counter()
        self._serial = 0
        self._earlier: list[dict[str, Any]] = []
        self._numbers = OURS
        self._seconds = 0.0  # in all requests so far
        self._owners: set[str] = set()  # whose code has run in the present worker
        self._called: set[str] = set()  # whose code the present check has called
        self._check = _CheckStart(frozenset(), Counter(), "")

    @property
    def is_fresh(self) -> bool:
        """Whether no function of the submission has been called in its worker yet."""
        return not self._owners

    def begin_check(self, name: str) -> None:  # noqa: ARG002 - for sessions that follow the checks by name
        """Note where a check begins, for `start_afresh`."""
        self._check = _CheckStart(frozenset(self._owners), self._endings.copy(), self.printed)
        self._called = set()
        self._earlier = []  # what the check before has asked for and never used

    def start_afresh(self) -> bool:
        """Take back what the check did, if others' functions had run in its worker before; False if none had.

        What one function does to its process must not fail another.
        """
        if self._check.owners <= self._called:
            return False
        self.close()
        self._endings, self.printed = self._check.endings, self._check.printed
        return True

    def load(self) -> Loaded:
        """Start a worker and load the program into it; return what it defined and what went wrong."""
        self._start()
        program = {"files": self.program.files, "main": self.program.main, "names": list(self.program.names)}
        printed = self.printed
        answer = self._exchange({"op": "load", **program}, IMPORT, IMPORT)
        if self.generation:  # it has said all this before
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
        """Wait for the word that comes before any byte of the submission is read."""
        started = time.monotonic()

        def patience() -> None:
            if time.monotonic() - started > START_SECONDS:
                raise ClosedError("no word in time")

        try:
            worker.channel.receive_byte(patience)
        except ClosedError as error:
            self._stop(kill=True)
            raise WorkerLostError(f"a worker ended before it was given anything: {error}") from None

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send one request and return the value of its reply; `call` names it in errors."""
        for name in (owner, IMPORT):
            if self._endings[name] >= self.limits.endings:
                raise StudentGoneError(f"not run: {name} has ended its process {self.limits.endings} times")
        if self._seconds > self.limits.session_s:
            raise StudentGoneError(f"not run: the submission has taken more than {self.limits.session_s:g} s in all")
        if self._worker is None:
            self.load()
        self._owners.add(owner)
        self._called.add(owner)
        return self._exchange(self.with_earlier(message), call, owner)

    def with_earlier(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a request together with what was to be done before it."""
        earlier, self._earlier = self._earlier, []
        return {**message, "before": earlier} if earlier else message

    def request_later(self, message: dict[str, Any]) -> None:
        """Have something done whose reply nobody waits for: it goes with the next request, which raises its error."""
        self._earlier.append(message)

    def new_number(self) -> int:
        """Return a number for an object that is yet to be made."""
        self._numbers += 1
        return self._numbers

    def close(self) -> None:
        """End the worker, if there is one, and count the CPU time it used."""
        if self._worker is None:
            return
        used = cpu_seconds(self._worker.process.pid)
        self._close().dismiss()
        self.cpu_s = None if self.cpu_s is None else self.cpu_s + used

    def student_error(self, error: object, call: str, owner: str) -> Exception:
        """Return the error of one call among many as the exception a test should see."""
        try:
            return error_of(error, call)
        except MalformedError:
            return self.malformed(call, owner)

    def malformed(self, call: str, owner: str) -> StudentEndedError:
        """End a worker whose reply has no known form."""
        return self._ended(call, owner, Ending("protocol", "a reply of no known form"))

    def _exchange(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Send a request, wait within the limits, and return its answer or raise its error."""
        if self._worker is None:
            raise RuntimeError("there is no worker to ask")
        channel = self._worker.channel
        patience = Deadline(self.limits, self._worker.process.pid)
        self._serial += 1
        started = time.monotonic()
        try:
            channel.send({"id": self._serial, **message}, patience=patience)
            good, content, printed = reply_parts(channel.receive(patience), self._serial)
        except ProtocolError as error:
            raise self._ended(call, owner, Ending("protocol", str(error))) from None
        except MalformedError:
            raise self.malformed(call, owner) from None
        except ClosedError:
            raise self._ended(call, owner, None) from None
        except DeadlineError as error:
            raise self._ended(call, owner, Ending("deadline", str(error)), waited=error.waited) from None
        finally:
            self._seconds += time.monotonic() - started
        self.printed = (self.printed + printed)[:MAX_PRINTED]
        if not good:
            raise self.student_error(content, call, owner)
        return content

    def _ended(self, call: str, owner: str, ending: Ending | None, *, waited: bool = False) -> StudentEndedError:
        """Put the worker away and return the error that says how it ended."""
        natural = self._stop(kill=ending is not None)
        self._endings[owner] += 1
        ending = ending or classify(natural, jailed=self.spawner.tier != "none", memory=self.spawner.memory)
        return StudentEndedError(call, ending, waited=waited)

    def _stop(self, *, kill: bool) -> Exit | None:
        """Put the worker away; None if it had to be killed and how it would have ended is not known."""
        if self._worker is None:
            return None
        process = self._close()
        natural = None if kill else self._natural_exit(process)
        if natural is None:
            process.kill()
        ended = natural or process.wait(START_SECONDS)
        if ended is None:
            raise WorkerLostError("a worker was killed and did not end")
        self.cpu_s = None if self.cpu_s is None or ended.cpu_s is None else self.cpu_s + ended.cpu_s
        return natural

    def _close(self) -> Process:
        """Be without a worker, and return the process that it was."""
        assert self._worker is not None
        process, channel = self._worker.process, self._worker.channel
        self._leave_worker()
        channel.close()
        return process

    def _leave_worker(self) -> None:
        """Forget the worker and every object in it."""
        self._worker = None
        self._owners = set()
        self._earlier = []
        self.generation += 1

    def _natural_exit(self, process: Process) -> Exit | None:
        """Wait for a worker that closed its channel to end by itself; killing it at once would race with it."""
        patience = Deadline(self.limits, process.pid)
        while (ended := process.wait(POLL_SECONDS)) is None:
            try:
                patience()
            except DeadlineError:
                return None
        return ended

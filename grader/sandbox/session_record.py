"""The record of a session: what its requests did, what the current check added, and what a submission may still use."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import StudentGoneError
from grader.sandbox.jail.limits import Limits
from grader.sandbox.protocol.device_findings import DeviceCall
from grader.sandbox.protocol.replies import MalformedError, Reply

MODULE = 0  # the handle of the student's module itself
MOST = 100  # arguments, or names of functions, that one reply may have
WATCHED = ("call", "make", "vjp", "on_device", "on_gpu")  # the requests whose arguments a worker compares


@dataclass(frozen=True)
class Change:
    """An argument that was different after a call."""

    call: str  # `softmax`, or `Attention.forward`; `Attention` is the constructor
    argument: int | str  # its position, from 0, or its keyword
    check: str


@dataclass
class CallRecord:
    """What is known about the calls so far, by function or class. Only the first change of each is kept."""

    returned: set[str] = field(default_factory=set)
    changes: dict[str, Change] = field(default_factory=dict)
    called: dict[str, set[str]] = field(default_factory=dict)  # names that a worker gave: they can be anything

    def copy(self) -> CallRecord:
        """Return a record that later calls do not change."""
        called = {owner: set(names) for owner, names in self.called.items()}
        return CallRecord(set(self.returned), dict(self.changes), called)

    def note_called(self, names: object, owner: str) -> None:
        """Note the names of library functions that a function or class of the student's called."""
        if type(names) is not list or len(names) > MOST or any(type(name) is not str for name in names):
            raise MalformedError
        if names:
            known = self.called.setdefault(owner, set())
            known.update(names[: max(0, MOST - len(known))])

    def note(self, changed: object, requests: Sequence[Mapping[str, Any]], owner: str, check: str) -> None:
        """Note the arguments that a worker names as changed. It can name only those that it was sent.

        `owner` is the function or class that the last of the requests calls. The others make objects.
        """
        if type(changed) is not list or len(changed) > MOST:
            raise MalformedError
        for one in changed:
            if type(one) is not list or len(one) != 2 or type(one[0]) is not int or not 0 <= one[0] < len(requests):
                raise MalformedError
            number, argument = one
            request = requests[number]
            if request["op"] not in WATCHED or type(argument) not in (int, str) or argument not in _sent(request):
                raise MalformedError
            handle, path = request["ref"]
            whose = owner if handle != MODULE else path[0]
            call = ".".join(path if handle == MODULE else [owner, *(path or ["__call__"])])
            self.changes.setdefault(whose, Change(call, argument, check))


def _sent(request: Mapping[str, Any]) -> set[int | str]:
    """Return the positions and keywords of all arguments in a request."""
    calls = request.get("calls") or [[request.get("args", ()), request.get("kwargs", {})]]
    if "made" in request:
        calls = [[request["made"][0], request["made"][3]]]
    return {name for args, kwargs in calls for name in (*range(len(args)), *kwargs)}


MAX_PRINTED = 65_536


@dataclass(frozen=True)
class RecordedRequest:
    """A request of a check, whose code it was for, and which worker it went to."""

    generation: int
    owner: str
    message: dict[str, Any]


@dataclass(frozen=True)
class _CheckStart:
    """What was known when a check began."""

    name: str = ""
    printed: str = ""
    calls: CallRecord = field(default_factory=CallRecord)


class SessionRecord:
    """What the requests of a session have done so far."""

    def __init__(self, on_gpu: SessionRecord | None = None) -> None:
        """Begin a record; `on_gpu` is that of the same submission on a real GPU."""
        self.printed = ""
        self.calls = CallRecord()
        self.requests: list[RecordedRequest] = []  # of the checks, if the session records them
        self.device_calls: list[DeviceCall] = []  # on a simulated or real GPU, in the current run of a check
        self._on_gpu = on_gpu
        self._check = _CheckStart()

    @property
    def all_calls(self) -> CallRecord:
        """What is known about all calls so far, also those on a real GPU."""
        own = self.calls
        if self._on_gpu is None:
            return own
        gpu = self._on_gpu.calls
        return CallRecord(own.returned | gpu.returned, gpu.changes | own.changes, own.called)

    @property
    def has_new_change(self) -> bool:
        """Whether a function changed an argument in the current check, and in none before."""
        return len(self.calls.changes) > len(self._check.calls.changes)

    def begin_check(self, name: str) -> None:
        """Save what is known, for `undo_check`."""
        self._check = _CheckStart(name, self.printed, self.calls.copy())
        self.begin_run()

    def undo_check(self) -> None:
        """Forget what the check has done."""
        self.printed, self.calls = self._check.printed, self._check.calls.copy()

    def begin_run(self) -> None:
        """Forget the calls on a GPU of the run before: they keep a student's arrays alive."""
        self.device_calls = []

    def note_changed(self, changed: object, message: Mapping[str, Any], owner: str) -> None:
        """Note the arguments that a reply names as changed by the calls of a message."""
        self.calls.note(changed, [*message.get("before", ()), message], owner, self._check.name)

    def note_printed(self, reply: Reply) -> None:
        """Note what student code printed while it answered."""
        self.printed = (self.printed + reply.printed)[:MAX_PRINTED]

    @contextmanager
    def printing_nothing(self) -> Iterator[None]:
        """Forget what is printed inside a `with` block: the program is loaded again, and prints the same again."""
        printed = self.printed
        try:
            yield
        finally:
            self.printed = printed


class Allowance:
    """What a submission may still use: endings of its process, and time in total.

    Endings are counted per `owner`, the function or class that is called. So a function that kills its worker uses up
    its own chances, never those of an honest function next to it.
    """

    def __init__(self) -> None:
        self._endings: Counter[str] = Counter()
        self._endings_before: Counter[str] = Counter()  # when the current check began
        self._seconds: defaultdict[Limits, float] = defaultdict(float)  # of all requests so far, by their limits

    def require(self, limits: Limits, *owners: str) -> None:
        """Raise StudentGoneError if a request must not be made any more."""
        for name in owners:
            if self._endings[name] >= limits.endings:
                raise StudentGoneError(f"not run: {name} has ended its process {limits.endings} times")
        if self._seconds[limits] > limits.session_s:
            raise StudentGoneError(f"not run: the submission has taken more than {limits.session_s:g} s in total")

    def take_ending(self, owner: str) -> None:
        """Count an ending."""
        self._endings[owner] += 1

    def take_time(self, limits: Limits, seconds: float) -> None:
        """Count the time of a request."""
        self._seconds[limits] += seconds

    def begin_check(self) -> None:
        """Save the endings, for `undo_check`."""
        self._endings_before = self._endings.copy()

    def undo_check(self) -> None:
        """Give back the endings of the check."""
        self._endings = self._endings_before.copy()

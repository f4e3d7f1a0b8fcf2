"""The record of the calls of one submission: what returned a value, what changed an argument, what was called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.sandbox.protocol.replies import MalformedError

MODULE = 0  # the handle of the student's module itself
MOST = 100  # arguments, or names of functions, that one reply may have
WATCHED = ("call", "make", "vjp", "on_device", "on_gpu")  # the requests whose arguments a worker compares


@dataclass(frozen=True)
class Change:
    """An argument that was different after a call."""

    call: str  # `sort`, or `Sorter.forward`; `Sorter` is the constructor
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

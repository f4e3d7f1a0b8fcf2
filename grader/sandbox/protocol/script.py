"""Scripts: the objects to make, the calls that come first, and the call that is measured.

The same script runs beside student code and, for the expected results, on the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.sandbox.protocol.recipe import NOTHING, Recipe, make
from grader.sandbox.protocol.snapshots import is_tensor, snapshot

OWN = "self"  # the object whose method is measured
GIVEN, EACH, OBJECT, LAST = "given", "each", "object", "last"

# How an argument is sent: a value, one value for each call, the name of an object, or the result of the call before.
# For that result, the value is the index of the part that is passed on; None means all of it.
ScriptArgument = tuple[str, Any]


@dataclass(frozen=True, eq=False)
class ScriptCall:
    """One call, or `times` calls in a row. Of many calls, the value is the list of all results."""

    path: tuple[str, ...]  # a function, or an object of the script and its method
    args: tuple[ScriptArgument, ...]
    named: Mapping[str, ScriptArgument] = field(default_factory=lambda: NOTHING)
    times: int | None = None

    @property
    def data(self) -> list[Any]:
        """The form that is sent to a worker."""
        named = {name: list(one) for name, one in self.named.items()}
        return [list(self.path), [list(one) for one in self.args], named, self.times]


@dataclass(frozen=True, eq=False)
class Script:
    """A measured call, with what it needs."""

    objects: Mapping[str, tuple[str, Recipe]]  # by name: the class, and how to make it
    before: tuple[ScriptCall, ...]
    call: ScriptCall

    @property
    def data(self) -> list[Any]:
        """The form that is sent to a worker."""
        objects = {name: [kind, made.data] for name, (kind, made) in self.objects.items()}
        return [objects, [one.data for one in self.before], self.call.data]


class Performance:
    """A script while it runs. It starts with new objects."""

    def __init__(self, module: Any, data: Sequence[Any]) -> None:
        objects, self._before, self._call = data
        self._module = module
        self._kinds = {name: kind for name, (kind, _) in objects.items()}
        self._objects = {name: make(getattr(module, kind), made) for name, (kind, made) in objects.items()}
        self.last: Any = None

    @property
    def has_state(self) -> bool:
        """Whether the measured call finds something that earlier calls have left."""
        return bool(self._before) or self.loops or any(name != OWN for name in self._objects)

    @property
    def loops(self) -> bool:
        """Whether many calls are measured together."""
        return self._call[3] is not None

    def before(self) -> Iterator[PreparedCall]:
        """Yield the calls that come first. Each must be made before the next is asked for."""
        for data in self._before:
            yield from self._prepared(data)

    def measured(self) -> list[PreparedCall]:
        """Return the calls that are measured."""
        return self._prepared(self._call)

    def run(self) -> Any:
        """Make the measured calls, and return the value."""
        results = [snapshot(call()) if self.loops else call() for call in self.measured()]
        return results if self.loops else results[0]

    def _prepared(self, data: Sequence[Any]) -> list[PreparedCall]:
        path, args, named, times = data
        owner = self._kinds[path[0]] if len(path) > 1 else path[0]
        own = self._call[0]
        is_own = owner == (self._kinds[own[0]] if len(own) > 1 else own[0])
        function = getattr(self._objects[path[0]], path[1]) if len(path) > 1 else getattr(self._module, path[0])
        return [
            PreparedCall(
                self,
                function,
                [self._argument(one, at) for one in args],
                {name: self._argument(one, at) for name, one in named.items()},
                is_own=is_own,
            )
            for at in range(1 if times is None else times)
        ]

    def _argument(self, argument: Sequence[Any], at: int) -> Any:
        kind, value = argument
        if kind == EACH:
            one = value[at]
            return one.clone() if is_tensor(one) else one.copy() if hasattr(one, "copy") else one
        if kind == OBJECT:
            return self._objects[value]
        return _Last(value) if kind == LAST else value


@dataclass(frozen=True)
class _Last:
    """Stands for the result of the call before."""

    index: int | None


@dataclass(frozen=True, eq=False)
class PreparedCall:
    """A call with its arguments, made when it is called."""

    performance: Performance
    function: Callable[..., Any]
    args: list[Any]
    named: dict[str, Any]
    is_own: bool  # of the function or class that the script measures

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The arguments that are known before the call."""
        return (*self.args, *self.named.values())

    def __call__(self) -> Any:
        args = [self._now(one) for one in self.args]
        named = {name: self._now(one) for name, one in self.named.items()}
        self.performance.last = value = self.function(*args, **named)
        return value

    def _now(self, value: Any) -> Any:
        if type(value) is not _Last:
            return value
        last = self.performance.last
        return last if value.index is None or last is None else last[value.index]

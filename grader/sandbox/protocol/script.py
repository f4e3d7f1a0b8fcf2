"""Scripts: the objects to make, the calls that come first, and the call that is measured.

The same script runs beside student code and, for the expected results, on the reference.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from grader.sandbox.protocol.wire import MAX_BODY, MAX_DEPTH, MAX_NODES

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to make an object; only a torch module has parameters (`state`), a mode, and parts.

    `parts` are layers of `torch.nn` that replace parts of the module, such as {"norm": ("Dropout", 1.0)}: a module that
    is the same in every mode then shows in which mode it is called.
    """

    init: tuple[Any, ...] = ()
    state: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    training: bool = False
    named: Mapping[str, Any] = field(default_factory=lambda: NOTHING)  # keyword arguments of the constructor
    parts: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: NOTHING)  # by name: a layer, its arguments

    @property
    def key(self) -> tuple[str, int, bool, str]:
        """A key that is equal for two recipes of the same object."""
        return repr(self.init), id(self.state), self.training, repr(dict(self.parts))

    @property
    def data(self) -> list[Any]:
        """The form that is sent to a worker."""
        parts = {name: list(part) for name, part in self.parts.items()}
        return [list(self.init), dict(self.state), self.training, dict(self.named), parts]


def fill(module: Any, state: Mapping[str, Any]) -> None:
    """Set the parameters of a torch module. Every one given must exist; the module's buffers stay as they are.

    `load_state_dict` would refuse a module that has a buffer missing from the state.
    """
    parameters = dict(module.named_parameters())
    for name, value in state.items():
        if name not in parameters:
            raise LookupError(f"there is no parameter {name}: there are {', '.join(parameters) or 'none'}")
        target = parameters[name].data
        if target.shape != value.shape:
            raise ValueError(f"{name} has the shape {tuple(target.shape)}, not {tuple(value.shape)}")
        target.copy_(value)


def make(kind: Callable[..., Any], data: Sequence[Any]) -> Any:
    """Make an object from the data of a `Recipe`."""
    init, state, training, named, parts = data
    made = kind(*init, **named)
    if state:
        fill(made, state)
    for name, (part, *given) in parts.items():
        made.add_module(name, getattr(sys.modules["torch"].nn, part)(*given))
    if callable(mode := getattr(made, "train", None)) and hasattr(made, "named_parameters"):
        mode(training)
    return made


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


class ProbeCall(NamedTuple):
    """A call of a probe, for a diagnosis. It is sent to a worker as a list of these."""

    number: int  # of the object whose method is called
    args: list[Any]
    kwargs: dict[str, Any]
    cotangent: Any = None  # with one, its gradients are wanted, too
    device: Any = None  # whether a simulated machine has a GPU, and the arguments that are elsewhere
    before: Sequence[Any] = ()  # the steps that come first: name, arguments
    needed: Sequence[Any] = ()  # the objects among the arguments: class, recipe
    attribute: str | None = None  # of the first argument, wanted after the call


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


def snapshot(value: Any) -> Any:
    """Return a copy of a result: a later call of the same batch may write into the same arrays and containers."""
    left = itertools.count(MAX_NODES, -1)

    def copied(value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is np.ndarray:
            return value.copy() if value.nbytes <= MAX_BODY else value
        if is_tensor(value) and value.numel() * value.element_size() <= MAX_BODY:
            return value.detach().clone().requires_grad_(value.requires_grad)
        if depth > MAX_DEPTH or next(left) < 0:  # too large to be sent
            return value
        if issubclass(kind, dict):  # a Counter is sent as a dict
            return {key: copied(item, depth + 1) for key, item in dict.items(value)}
        if kind in (tuple, list):
            return kind([copied(item, depth + 1) for item in value])
        return set(value) if kind is set else value

    return copied(value, 0)


def content_of(value: Any, depth: int = 0) -> Any:
    """Return a value's content, to compare with its content after a call."""
    kind = type(value)
    if depth > MAX_DEPTH:  # it was not sent like this
        return kind, id(value)
    if kind in (tuple, list):
        return kind, [content_of(item, depth + 1) for item in value]
    if kind is dict:
        return kind, {key: content_of(item, depth + 1) for key, item in value.items()}
    if kind in (set, frozenset):
        return kind, set(value)
    if type(value) is np.ndarray:
        return value.dtype, value.shape, value.tobytes()
    if is_tensor(value):
        flat = value.detach().contiguous().reshape(-1)
        return value.dtype, value.shape, flat.view(sys.modules["torch"].uint8).numpy().tobytes()
    return repr(value)


def is_tensor(value: Any) -> bool:
    """Whether this is a plain, dense tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor and value.layout is torch.strided

"""Making an object of a student's class as it is asked for: a torch module also gets its parameters and its mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Recipe:
    """How an object is made; only a torch module has parameters (`state`) and a mode."""

    init: tuple[Any, ...] = ()
    state: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    training: bool = False
    named: Mapping[str, Any] = field(default_factory=lambda: NOTHING)  # arguments of the constructor, by name

    @property
    def key(self) -> tuple[str, int, bool]:
        """The same for two that make the same object."""
        return repr(self.init), id(self.state), self.training

    @property
    def data(self) -> list[Any]:
        """The form in which it goes to a worker."""
        return [list(self.init), dict(self.state), self.training, dict(self.named)]


def fill(module: Any, state: Mapping[str, Any]) -> None:
    """Give a torch module these parameters; buffers of its own stay as they are, but what is given must have its place.

    `load_state_dict` would refuse a module for a buffer that is not in the state.
    """
    parameters = dict(module.named_parameters())
    for name, value in state.items():
        if name not in parameters:
            raise LookupError(f"there is no parameter {name}: there are {', '.join(parameters) or 'none'}")
        place = parameters[name].data
        if place.shape != value.shape:
            raise ValueError(f"{name} has the shape {tuple(place.shape)}, not {tuple(value.shape)}")
        place.copy_(value)


def make(kind: Callable[..., Any], data: Sequence[Any]) -> Any:
    """Make an object in the way that `Made.data` describes."""
    init, state, training, named = data
    made = kind(*init, **named)
    if state:
        fill(made, state)
    if callable(mode := getattr(made, "train", None)) and hasattr(made, "named_parameters"):
        mode(training)
    return made

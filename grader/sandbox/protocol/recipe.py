"""Recipes for objects of a student's classes. A torch module also gets parameters and a mode."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

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

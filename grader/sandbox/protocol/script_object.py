"""Objects of a student's classes as arguments of a script: a cache for a layer, or a layer for a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from grader.sandbox.protocol.recipe import NOTHING, Recipe
from grader.sandbox.protocol.wire import Remote

KIND = "an object of a script"  # in place of the type of an object in the worker


@dataclass(frozen=True, eq=False)
class ScriptObject:
    """Stands for an object that each script makes again. In one script, it is always the same object."""

    kind: str
    made: Recipe

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.made.init))})"

    @property
    def data(self) -> list[Any]:
        """The form that is sent to a worker."""
        return [self.kind, self.made.data]


def object_of(
    kind: str,
    *init: Any,
    state: Mapping[str, Any] = NOTHING,
    training: bool = False,
    parts: Mapping[str, tuple[Any, ...]] = NOTHING,
) -> ScriptObject:
    """Return an argument that is a new object of the student's class `kind`; `state` are its parameters."""
    return ScriptObject(kind, Recipe(init, state, training, parts=parts))


def objects_in(given: Iterable[Any]) -> list[ScriptObject]:
    """Return the objects among arguments, each once."""
    return list(dict.fromkeys(one for one in given if type(one) is ScriptObject))


def sent_in_place(value: Any, objects: list[ScriptObject]) -> Any:
    """Return what is sent in place of an object: its number among the objects of the script."""
    return Remote(objects.index(value), KIND) if type(value) is ScriptObject else value


def is_script_object(value: Any) -> bool:
    """Whether an argument, as it was sent, stands for an object of the script."""
    return type(value) is Remote and value.type_name == KIND


def replaced(value: Any, made: Callable[[ScriptObject], Any]) -> Any:
    """Return an argument, with an object that `made` gives in place of what stands for it."""
    return made(value) if type(value) is ScriptObject else value

"""Stand-ins: arguments that are made, or taken, in the worker, where a call is made.

They are new random generators, objects of a student's classes (a cache for a layer, or a layer for a function), and
what an earlier step returned: a state in any form never has to leave the worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.sandbox.protocol.script import NOTHING, Recipe
from grader.sandbox.protocol.wire import Remote

# In place of the type of an object in the worker.
_OBJECT = "an object of a script"
_STEP_RESULT = "a result of an earlier step"
GENERATOR = "a random generator"
_PARTS = 100
MOST_SEED = 1 << 31


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
    return Remote(objects.index(value), _OBJECT) if type(value) is ScriptObject else value


def is_script_object(value: Any) -> bool:
    """Whether an argument, as it was sent, stands for an object of the script."""
    return type(value) is Remote and value.type_name == _OBJECT


def replaced(value: Any, made: Callable[[ScriptObject], Any]) -> Any:
    """Return an argument, with an object that `made` gives in place of what stands for it."""
    return made(value) if type(value) is ScriptObject else value


@dataclass(frozen=True)
class EarlierResult:
    """Stands for a part of what an earlier step of the same script returned."""

    step: int
    part: int

    def __repr__(self) -> str:
        return f"result_of({self.step}, part={self.part})"

    @property
    def sent(self) -> Remote:
        """The form that is sent to a worker."""
        return Remote(self.step * _PARTS + self.part, _STEP_RESULT)


def result_of(step: int, *, part: int) -> EarlierResult:
    """Return an argument that is a part of what step number `step`, from 0, returned."""
    if not 0 <= part < _PARTS or step < 0:
        raise TypeError(f"there is no part {part} of step {step}")
    return EarlierResult(step, part)


def is_earlier_result(value: Any) -> bool:
    """Whether an argument, as it was made or as it was sent, stands for an earlier result."""
    return type(value) is EarlierResult or (type(value) is Remote and value.type_name == _STEP_RESULT)


def taken_from(results: Sequence[Any], value: Any) -> Any:
    """Return the part of the results that an argument stands for."""
    step, part = divmod(value.handle, _PARTS) if type(value) is Remote else (value.step, value.part)
    return results[step][part]


@dataclass(frozen=True)
class Generator:
    """Stands for a new generator in the arguments of a call. Every call gets one in the same state."""

    seed: int

    def __repr__(self) -> str:
        return f"generator({self.seed})"

    @property
    def sent(self) -> Remote:
        """The form that is sent to a worker."""
        return Remote(self.seed, GENERATOR)


def generator(seed: int) -> Generator:
    """Return an argument that is a new `torch.Generator` with this seed; in a NumPy module, `default_rng(seed)`."""
    if type(seed) is not int or not 0 <= seed < MOST_SEED:
        raise TypeError(f"a seed is a whole number from 0 to {MOST_SEED - 1}, not {seed!r}")
    return Generator(seed)


def make_generator(seed: int) -> Any:
    """Make the generator, where the call is made."""
    if (torch := sys.modules.get("torch")) is not None:
        return torch.Generator().manual_seed(seed)
    return np.random.default_rng(seed)


def as_argument(value: Any) -> Any:
    """Return an argument as the function gets it: a stand-in becomes a real generator."""
    return make_generator(value.seed) if type(value) is Generator else value

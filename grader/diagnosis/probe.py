"""Probes: the calls by which one wrong way is told from another, listed in a module's `probes.py`.

Probes are no secret: students have them, with what the reference and every known wrong way make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from grader.core.compare import shape_of
from grader.course.api import Api
from grader.course.load_python import load_python
from grader.course.module import CourseError, Module
from grader.sandbox.protocol.recipe import NOTHING, Recipe

LIST = "PROBES"


@dataclass(frozen=True, eq=False)
class Weights:
    """That a result is weights, and of what: so that axis, scale and mask can be read off it.

    `part` says where in the result they are: with V the identity, the output of attention is its weights.
    """

    scores: np.ndarray
    scale: float = 1.0
    mask: np.ndarray | None = None
    part: int | None = None


@dataclass(frozen=True)
class SimulatedMachine:
    """The pretended machine that a probe is called on: whether it has a GPU, and which arguments are not on that."""

    gpu: bool = True
    elsewhere: tuple[int | str, ...] = ()

    @property
    def data(self) -> list[Any]:
        """What a worker is told of it."""
        return [self.gpu, list(self.elsewhere)]


@dataclass(frozen=True, eq=False)
class Probe:
    """One call; made by `probe(...)`."""

    path: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    made: Recipe
    cotangent: Any
    look: Callable[[Any], Any] | None
    any_dtype: bool
    said: str
    weights: Weights | None
    names: tuple[float, ...]
    place: SimulatedMachine | None = None

    @property
    def target(self) -> str:
        """The function or class that is examined."""
        return self.path.partition(".")[0]

    @property
    def size(self) -> int:
        """How much there is to read in the arguments."""
        return sum(prod(axes_of(arg)) for arg in (*self.args, *self.kwargs.values()))


def axes_of(arg: Any) -> tuple[int, ...]:
    """Return the shape of an argument; of a list of things of different shapes, how many there are."""
    if (shape := shape_of(arg)) is not None:
        return shape
    try:
        return np.shape(arg)
    except ValueError:
        return (len(arg),)


def probe(
    path: str,
    *args: Any,
    init: tuple[Any, ...] = (),
    state: Mapping[str, Any] = NOTHING,
    training: bool = False,
    cotangent: Any = None,
    look: Callable[[Any], Any] | None = None,
    any_dtype: bool = False,
    said: str = "",
    weights: Weights | None = None,
    names: tuple[float, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    on_device: bool = False,
    elsewhere: tuple[int | str, ...] = (),
    gpu: bool = True,
) -> Probe:
    """Return a call of `softmax`, or of `Attention.forward` on a new Attention(*init).

    A torch module is given its parameters by `state` and is in eval mode unless it is to be `training`. With a
    `cotangent`, what is observed is {"value", "grads", "parameters"}: None stands where no gradient reached.
    `look` turns the result into what counts of it, where not every difference does; `any_dtype` says that the dtype
    does not. `names` are the numbers that a refusal should name, where these arguments are to be refused. `said`
    describes long arguments: "the shared example".

    With `on_device`, the call is made on a machine that pretends to have a GPU (or, with `gpu=False`, to have none),
    with all tensors there but those of the arguments that `elsewhere` names. What is observed is then {"value",
    "devices", "findings", "waits"}: the devices of its tensors, the pairs of kind and function that were found, and
    whether a copy holds up the CPU; a call that raised for what was found has no value.
    """
    made = Recipe(init, state, training)
    place = SimulatedMachine(gpu, elsewhere) if on_device else None
    return Probe(path, args, kwargs or {}, made, cotangent, look, any_dtype, said, weights, names, place)


def read_probes(module: Module, api: Api) -> tuple[Probe, ...]:
    """Run a module's `probes.py` and return its list; a mistake in it is the course's."""
    path = module.probes
    missing = f"Write the calls to tell wrong ways apart by: {LIST} = [...]"
    made = load_python(path, f"_probes_{module.name}", verb="run", missing=missing, fix="Fix it")
    probes = getattr(made, LIST, None)
    if not isinstance(probes, list) or not all(isinstance(one, Probe) for one in probes):
        raise CourseError(path, LIST, "is no list of probes", f"Write {LIST} = [probe(...), ...]")
    known = {*api.functions, *(f"{name}.{method}" for name, methods in api.classes.items() for method in methods)}
    for one in probes:
        if one.path not in known:
            raise CourseError(path, one.path, "is not asked for", f"There are {', '.join(sorted(known))}")
    return tuple(probes)

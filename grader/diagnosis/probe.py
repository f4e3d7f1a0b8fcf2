"""Probes: the calls that tell one wrong way from another, listed in a module's `probes.py`.

Probes are not secret: students have them, with their outcomes for the reference and for every known wrong way.
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
    """Says that a result is a table of weights, so that its axis, scale and mask can be read from it.

    `part` is the item of the result that holds the weights. If V is the identity, the output of attention is its
    weights.
    """

    scores: np.ndarray
    scale: float = 1.0
    mask: np.ndarray | None = None
    part: int | None = None


@dataclass(frozen=True)
class SimulatedMachine:
    """The simulated machine of a probe: whether it has a GPU, and which arguments are not on that GPU."""

    gpu: bool = True
    elsewhere: tuple[int | str, ...] = ()

    @property
    def data(self) -> list[Any]:
        """The form that is sent to a worker."""
        return [self.gpu, list(self.elsewhere)]


@dataclass(frozen=True, eq=False)
class Probe:
    """One call. Make it with `probe(...)`."""

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
        """The function or class that the probe calls."""
        return self.path.partition(".")[0]

    @property
    def size(self) -> int:
        """The number of entries in the arguments."""
        return sum(prod(axes_of(arg)) for arg in (*self.args, *self.kwargs.values()))


def axes_of(arg: Any) -> tuple[int, ...]:
    """Return the shape of an argument; for a list of values of different shapes, its length."""
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

    `state` sets the parameters of a torch module. The module is in eval mode, unless `training` is true.
    With a `cotangent`, the outcome is {"value", "grads", "parameters"}; None marks a gradient that did not arrive.
    `look` reduces the result to the part that counts, and `any_dtype` says that the dtype does not count.
    `names` are the numbers that the error message must name, if these arguments must be refused.
    `said` describes long arguments, such as "the shared example".

    With `on_device`, the call runs on a simulated machine with a GPU (with `gpu=False`, without one). All tensors are
    on the GPU, except those of the arguments that `elsewhere` names. The outcome is then {"value", "devices",
    "findings", "waits"}: the devices of its tensors, the pairs of kind and function that were found, and whether a
    copy makes the CPU wait. A call that raised because of a finding has no value.
    """
    made = Recipe(init, state, training)
    place = SimulatedMachine(gpu, elsewhere) if on_device else None
    return Probe(path, args, kwargs or {}, made, cotangent, look, any_dtype, said, weights, names, place)


def read_probes(module: Module, api: Api) -> tuple[Probe, ...]:
    """Run a module's `probes.py` and return its list. A mistake in it is an error of the course."""
    path = module.probes
    missing = f"Write the calls that tell wrong ways apart: {LIST} = [...]"
    made = load_python(path, f"_probes_{module.name}", verb="run", missing=missing, fix="Fix it")
    probes = getattr(made, LIST, None)
    if not isinstance(probes, list) or not all(isinstance(one, Probe) for one in probes):
        raise CourseError(path, LIST, "is not a list of probes", f"Write {LIST} = [probe(...), ...]")
    known = {*api.functions, *(f"{name}.{method}" for name, methods in api.classes.items() for method in methods)}
    for one in probes:
        if one.path not in known:
            raise CourseError(
                path, one.path, "is not a name that the module asks for", f"Use one of {', '.join(sorted(known))}"
            )
    return tuple(probes)

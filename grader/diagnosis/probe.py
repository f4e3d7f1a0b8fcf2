"""Probes: the calls that tell one wrong way from another, listed in a module's `probes.py`.

Probes are not secret: students have them, with their outcomes for the reference and for every known wrong way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from grader.core.compare import shape_of
from grader.course.api import Api
from grader.course.loading import load_python
from grader.course.module import CourseError, Module
from grader.sandbox.protocol.script import NOTHING, Recipe
from grader.sandbox.protocol.stand_ins import objects_in

LIST = "PROBES"


@dataclass(frozen=True)
class Reading:
    """What a wrong result shows: the evidence, and its likely cause if it can be told."""

    evidence: str
    cause: str = ""


Reads = Callable[[Any], Reading | None]  # given a wrong result; None if there is nothing to say


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
class Step:
    """A call before the call of a probe, of a method or of a function. Make it with `step(...)`."""

    method: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def step(method: str, *args: Any, **kwargs: Any) -> Step:
    """Return a call that is made before that of a probe, for a method on the same object: step("update", k, v)."""
    return Step(method, tuple(map(_wide, args)), {name: _wide(arg) for name, arg in kwargs.items()})


def _wide(arg: Any) -> Any:
    """Return whole numbers as 64 bits, as in the golden file: in a browser, NumPy makes them with 32."""
    return arg.astype(np.int64) if isinstance(arg, np.ndarray) and arg.dtype == np.intp != np.int64 else arg


@dataclass(frozen=True, eq=False)
class Probe:
    """One call, or the last call of a script. Make it with `probe(...)`."""

    path: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    made: Recipe
    cotangent: Any
    look: Callable[[Any], Any] | None
    any_dtype: bool
    said: str
    reads: Reads | None
    names: tuple[float | str, ...]
    place: SimulatedMachine | None = None
    before: tuple[Step, ...] = ()
    attribute: str = ""

    @property
    def object_key(self) -> Hashable:
        """A key that is equal for two probes that share one object. A script has an object of its own."""
        return (self.made.key, id(self) if self.before else 0)

    @property
    def uses(self) -> tuple[str, ...]:
        """The names of the function, or of the class and all methods, that the probe calls."""
        methods = (one.method for one in self.before)
        return (*self.path.split("."), *methods, *(one.kind for one in objects_in(self.given)))

    @property
    def given(self) -> tuple[Any, ...]:
        """All arguments, also those of the steps before."""
        calls = [(one.args, one.kwargs) for one in self.before] + [(self.args, self.kwargs)]
        return tuple(arg for args, kwargs in calls for arg in (*args, *kwargs.values()))

    @property
    def target(self) -> str:
        """The function or class that the probe calls."""
        return self.path.partition(".")[0]

    @property
    def size(self) -> int:
        """The number of entries in the arguments."""
        return sum(map(_entries, self.given))


def axes_of(arg: Any) -> tuple[int, ...]:
    """Return the shape of an argument; for text, a dict, a set and a list of different shapes, its length."""
    if (shape := shape_of(arg)) is not None:
        return shape
    if type(arg) in (str, bytes, dict, set, frozenset):
        return (len(arg),)
    try:
        return np.shape(arg)
    except ValueError:
        return (len(arg),)


def _entries(arg: Any) -> int:
    """Return the number of entries of an argument; of text, the number of its characters."""
    if type(arg) in (str, bytes):
        return len(arg)
    if type(arg) is dict:
        return sum(_entries(key) + _entries(value) for key, value in arg.items())
    if type(arg) in (list, tuple, set, frozenset):
        return sum(map(_entries, arg))
    return prod(axes_of(arg))


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
    reads: Reads | None = None,
    names: tuple[float | str, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    on_device: bool = False,
    elsewhere: tuple[int | str, ...] = (),
    gpu: bool = True,
    before: Sequence[Step] = (),
    attribute: str = "",
) -> Probe:
    """Return a call of `sort`, or of `Sorter.forward` on a new Sorter(*init).

    With `before`, it is a script: these steps are made first, on one new object: before=[step("update", k, v)]. A path
    may then also name a property, such as "Cache.length", which is read. If the path is a function, so are the steps.
    `result_of(0, part=1)` as an argument is the second part of what the first step returned. `object_of("Cache", 4)` is
    a new object of another class of the student's; in one script it is always the same one.

    With `attribute`, the outcome is {"value", attribute}: what the first argument, an object, has there after the call.

    `state` sets the parameters of a torch module. The module is in eval mode, unless `training` is true.
    With a `cotangent`, the outcome is {"value", "grads", "parameters"}; None marks a gradient that did not arrive.
    `look` reduces the result to the part that counts, and `any_dtype` says that the dtype does not count.
    `names` are the numbers and texts that the error message must name, if these arguments must be refused.
    `reads` returns what a wrong result shows, in the words of the course.
    `said` describes long arguments, such as "the shared example".

    With `on_device`, the call runs on a simulated machine with a GPU (with `gpu=False`, without one). All tensors are
    on the GPU, except those of the arguments that `elsewhere` names. The outcome is then {"value", "devices",
    "findings", "waits"}: the devices of its tensors, the pairs of kind and function that were found, and whether a
    copy makes the CPU wait. A call that raised because of a finding has no value.
    """
    made = Recipe(init, state, training)
    if before and on_device:
        raise TypeError(f"{path}: a script cannot run on a device")
    place = SimulatedMachine(gpu, elsewhere) if on_device else None
    args, kwargs = tuple(map(_wide, args)), {name: _wide(arg) for name, arg in (kwargs or {}).items()}
    script = tuple(before)
    return Probe(path, args, kwargs, made, cotangent, look, any_dtype, said, reads, names, place, script, attribute)


def read_probes(module: Module, api: Api) -> tuple[Probe, ...]:
    """Run a module's `probes.py` and return its list. A mistake in it is an error of the course."""
    path = module.probes
    missing = f"Write the calls that tell wrong ways apart: {LIST} = [...]"
    made = load_python(path, f"_probes_{module.name}", verb="run", missing=missing, fix="Fix it")
    probes = getattr(made, LIST, None)
    if not isinstance(probes, list) or not all(isinstance(one, Probe) for one in probes):
        raise CourseError(path, LIST, "is not a list of probes", f"Write {LIST} = [probe(...), ...]")
    known = {*api.functions, *(f"{name}.{method}" for name, methods in api.classes.items() for method in methods)}
    known |= {f"{name}.{one}" for name, properties in api.properties.items() for one in properties}
    for one in probes:
        if one.path not in known:
            raise CourseError(
                path, one.path, "is not a name that the module asks for", f"Use one of {', '.join(sorted(known))}"
            )
        methods = api.classes.get(one.target, ()) if "." in one.path else api.functions
        for number, step in enumerate(one.before, 1):
            if not isinstance(step, Step) or step.method not in methods:
                what = f"has the step {step.method}" if isinstance(step, Step) else "has a step that is not step(...)"
                owner = f"a method of {one.target}" if "." in one.path else "a function"
                problem = f"{what} (number {number}), which is not {owner}"
                raise CourseError(path, one.path, problem, f"Use one of {', '.join(methods)}")
    return tuple(probes)

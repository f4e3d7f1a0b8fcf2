"""A probe made again in the student's own Python, for a call that is too long to be pasted.

Nothing here is graded, so nothing is jailed: the student runs their own code.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from grader.diagnosis.probe import Probe
from grader.sandbox.protocol.script import make
from grader.sandbox.protocol.stand_ins import (
    ScriptObject,
    as_argument,
    is_earlier_result,
    objects_in,
    replaced,
    taken_from,
)
from grader.sandbox.worker.autograd import vjp
from grader.sandbox.worker.seeding import seed_everything


def rerun(probe: Probe, target: Any, *, before: Sequence[Probe] = (), after: bool = False) -> Any:
    """Make the call of a probe with a function or class, and return what `attn test` shows as yours.

    Print `PROBES[n].args` to see the arguments, and `PROBES[n].made` to see how the object was made. With `before`, the
    calls that `attn test` makes earlier are made first. With `after`, the arguments after the call are returned.
    """
    seed_everything(0)
    owners: dict[Any, Any] = {}
    same = [one for one in before if one.path == probe.path]
    for one in same if "." in probe.path else ():  # all objects are made before the first call
        with contextlib.suppress(Exception):
            if one.object_key not in owners:
                owners[one.object_key] = make(target, one.made.data)
    for one in takewhile(lambda other: other is not probe, same):
        with contextlib.suppress(Exception):
            _made(one, target, owners)
    value, given = _made(probe, target, owners)
    if after:
        return given
    return probe.look(value) if probe.look is not None else value


def _made(probe: Probe, target: Any, owners: dict[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """Make the call of a probe. Return its value, and its arguments after the call."""
    method = probe.path.partition(".")[2]
    key = probe.object_key
    if method and key not in owners:
        owners[key] = make(target, probe.made.data)
    owner = owners.get(key)
    names = _names_beside(target, method)
    given = _Given([], {one: make(names[one.kind], one.made.data) for one in objects_in(probe.given)})
    for one in probe.before:
        seed_everything(0)
        step = getattr(owner, one.method) if method else names[one.method]
        given.earlier.append(step(*given.arguments(one.args), **given.named(one.kwargs)))
    function = getattr(owner, method) if method else target
    args, kwargs = given.arguments(probe.args), given.named(probe.kwargs)
    if "torch" in sys.modules:
        seed_everything(0)  # dropout
    value = _call(probe, function, owner, args, kwargs)
    if probe.attribute:
        value = {"value": value, probe.attribute: getattr(args[0], probe.attribute)}
    return value, {**{str(number): arg for number, arg in enumerate(args, 1)}, **kwargs}


def _names_beside(target: Any, method: str) -> Mapping[str, Any]:
    """Return the names of the module that a function or class is in; a decorator may be from another one."""
    found = inspect.unwrap(getattr(target, method, target) if method else target)
    return {**getattr(found, "__globals__", {}), target.__name__: target}


@dataclass(frozen=True)
class _Given:
    """What arguments may stand for: results of earlier steps, and the objects of a script."""

    earlier: list[Any]
    objects: Mapping[ScriptObject, Any]

    def arguments(self, args: Sequence[Any]) -> list[Any]:
        return [self._argument(arg) for arg in args]

    def named(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._argument(arg) for key, arg in kwargs.items()}

    def _argument(self, arg: Any) -> Any:
        if type(arg) is ScriptObject:
            return replaced(arg, self.objects.__getitem__)
        return taken_from(self.earlier, arg) if is_earlier_result(arg) else as_argument(copy.deepcopy(arg))


def _call(probe: Probe, function: Any, owner: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if probe.place is not None:
        return _on_device(probe, function, owner, args, kwargs)
    if probe.cotangent is None:
        is_property = owner is not None and not callable(function) and not args and not kwargs
        return function if is_property else function(*args, **kwargs)
    pulled = vjp(function, owner, args, kwargs, probe.cotangent)
    return {"value": pulled["value"], "grads": pulled["args"], "parameters": pulled["parameters"]}


def _on_device(probe: Probe, function: Any, owner: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from grader.sandbox.worker.gpu.call import on_device  # only one module needs the simulated GPU

    assert probe.place is not None
    gpu, elsewhere = probe.place.data
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    files = {code.co_filename} if code is not None else set()
    answer = on_device(function, owner, args, kwargs, elsewhere=elsewhere, gpu=gpu, files=files)
    if (error := answer.get("error")) is not None and not answer["findings"]:
        raise error
    return {
        "value": answer.get("value"),
        "devices": answer["devices"],
        "findings": sorted({(finding[0], finding[1]) for finding in answer["findings"]}),
        "waits": not all(one[0] for one in answer["copies"]),
    }

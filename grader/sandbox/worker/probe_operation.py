"""The probe operation: calls for a diagnosis, which go on after an error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from grader.sandbox.protocol.script import ProbeCall, content_of, make, snapshot
from grader.sandbox.protocol.stand_ins import is_earlier_result, is_script_object, taken_from
from grader.sandbox.worker.autograd import vjp
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.seeding import seed_everything


def probe(objects: StudentObjects, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Make calls and keep their errors. A method is called on one object per recipe.

    The objects are made first and used for all calls. Otherwise no probe could see what they keep from call to call,
    or share with each other. An object that cannot be made, or does not have the given parameters, spoils only its
    own calls.
    """
    name, *method = request["path"]
    owners: list[Any] = []
    not_made: dict[int, dict[str, Any]] = {}
    for number, recipe in enumerate(request["objects"]):
        try:
            owners.append(make(objects.find([0, [name]]), recipe))
        except BaseException as error:  # noqa: BLE001
            owners.append(None)
            not_made[number] = {"error": objects.describe(error)}
    results: list[dict[str, Any]] = []
    for call in (ProbeCall(*sent) for sent in request["calls"]):
        if method and call.number in not_made:
            results.append(not_made[call.number])
        else:
            results.append(_result(objects, name, method, owners[call.number] if method else None, call))
    return results


def _result(objects: StudentObjects, name: str, method: list[str], owner: Any, call: ProbeCall) -> dict[str, Any]:
    """Return what one call gave, and which arguments it changed."""
    try:
        made = [make(objects.find([0, [kind]]), recipe) for kind, recipe in call.needed]
        earlier = _results_of_steps(objects, owner, call.before, made)
    except BaseException as raised:  # noqa: BLE001
        return {"error": objects.describe(raised), "step": True}
    try:
        function = getattr(owner, method[0]) if method else objects.find([0, [name]])
        # A state or an object of the student's own is not compared: a later step shows whether it was changed.
        own = {
            key
            for key, arg in _by_name(call.args, call.kwargs).items()
            if is_earlier_result(arg) or is_script_object(arg)
        }
        args, kwargs = _local(objects, call.args, call.kwargs, earlier, made)
        given = {key: arg for key, arg in _by_name(args, kwargs).items() if key not in own}
        before = {key: content_of(arg) for key, arg in given.items()}
        if "torch" in sys.modules:
            seed_everything(0)  # dropout
        if call.device is None:
            value = _call(function, owner, args, kwargs, call.cotangent)
        else:
            value = _call_on_device(objects, function, owner, args, kwargs, call.device)
        if call.attribute:
            value = {"value": value, call.attribute: snapshot(getattr(args[0], call.attribute))}
        return {"value": value, "changed": {key: arg for key, arg in given.items() if content_of(arg) != before[key]}}
    except BaseException as error:  # noqa: BLE001
        return {"error": objects.describe(error)}


def _by_name(args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by their position, from 1, or their keyword."""
    return {**{str(position): arg for position, arg in enumerate(args, 1)}, **kwargs}


def _results_of_steps(objects: StudentObjects, owner: Any, steps: Sequence[Any], made: list[Any]) -> list[Any]:
    """Make the calls of a script that come before its last one: methods of its object, or functions."""
    results: list[Any] = []
    for name, args, kwargs in steps:
        if "torch" in sys.modules:
            seed_everything(0)
        function = objects.find([0, [name]]) if owner is None else getattr(owner, name)
        args, kwargs = _local(objects, args, kwargs, results, made)
        results.append(function(*args, **kwargs))
    return results


def _local(
    objects: StudentObjects, args: list[Any], kwargs: dict[str, Any], earlier: list[Any], made: list[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments as the function gets them."""

    def local(arg: Any) -> Any:
        if is_script_object(arg):
            return made[arg.handle]
        return taken_from(earlier, arg) if is_earlier_result(arg) else objects.local(arg)

    return [local(arg) for arg in args], {key: local(arg) for key, arg in kwargs.items()}


def _call(function: Any, owner: Any, args: list[Any], kwargs: dict[str, Any], cotangent: Any) -> Any:
    """Return the value of a call; with a cotangent, also its gradients."""
    if cotangent is None:
        is_property = owner is not None and not callable(function) and not args and not kwargs
        return snapshot(function if is_property else function(*args, **kwargs))
    pulled = vjp(function, owner, args, kwargs, cotangent)
    return {"value": pulled["value"], "grads": pulled["args"], "parameters": pulled["parameters"]}


def _call_on_device(
    objects: StudentObjects, function: Any, owner: Any, args: list[Any], kwargs: dict[str, Any], device: Any
) -> Any:
    """Return what a call on the simulated GPU gave. An error without a finding is raised like any other."""
    from grader.sandbox.worker.gpu.call import on_device

    gpu, elsewhere = device
    answer = on_device(function, owner, args, kwargs, elsewhere=elsewhere, gpu=gpu, files=objects.filenames)
    if (error := answer.get("error")) is not None and not answer["findings"]:
        raise error
    return {
        "value": snapshot(answer.get("value")),
        "devices": answer["devices"],
        "findings": sorted({(finding[0], finding[1]) for finding in answer["findings"]}),
        "waits": not all(copy[0] for copy in answer["copies"]),
    }

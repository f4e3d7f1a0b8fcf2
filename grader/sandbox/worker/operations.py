"""Operations that the trusted side may ask of a worker, by name.

`measure` and the GPU operations import their modules only when they run: most workers never need them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.sandbox.protocol.recipe import fill as fill_parameters
from grader.sandbox.protocol.recipe import make as make_object
from grader.sandbox.protocol.script import Performance
from grader.sandbox.protocol.snapshots import snapshot
from grader.sandbox.worker import gpu_operations
from grader.sandbox.worker.autograd import vjp as pull_back
from grader.sandbox.worker.error_description import MissingError
from grader.sandbox.worker.loader import StudentModules
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.probe_operation import probe
from grader.sandbox.worker.seeding import seed_everything

MAX_ERRORS = 5

Request = dict[str, Any]


def load(objects: StudentObjects, request: Request) -> dict[str, Any]:
    """Run the student's module; return the names it defined and its first errors."""
    objects.modules = _modules(request)
    if request.get("named"):
        objects.watch.name_calls(objects.modules.filenames, objects.modules.given)
    errors = [objects.describe(error) for error in objects.modules.load(request["main"])[:MAX_ERRORS]]
    return {"errors": errors, "defined": sorted(vars(objects.modules.main).keys() & set(request["names"]))}


def _modules(request: Request) -> StudentModules:
    if request.get("how") != "metered":
        return StudentModules(request["files"])
    from grader.sandbox.worker.meters.measure import MeteredModules

    return MeteredModules(request["files"])


def get(objects: StudentObjects, request: Request) -> object:
    """Return an object."""
    return objects.find(request["ref"])


def call(objects: StudentObjects, request: Request) -> list[dict[str, Any]]:
    """Make calls of one function, up to the first that raises."""
    function = objects.find(request["ref"])
    results: list[dict[str, Any]] = []
    for args, kwargs in request["calls"]:
        args = [objects.local(arg) for arg in args]
        kwargs = {name: objects.local(arg) for name, arg in kwargs.items()}
        try:
            with objects.watch.over(args, kwargs):
                value = function(*args, **kwargs)
            # A new instance of the called class stays here, even if it is a tuple: it has methods.
            is_made = type(value) is function
            result = {"value": objects.keep(value) if is_made else _without(objects, value, request.get("kept"))}
        except BaseException as error:  # noqa: BLE001
            results.append({"error": objects.describe(error)})
            break
        if request["inputs"]:
            result |= {"args": args, "kwargs": kwargs}
        results.append(result)
    return results


def _without(objects: StudentObjects, value: Any, kept: int | None) -> Any:
    """Return a result to be sent. A part that is kept stays here, in whatever form it has."""
    if kept is None or not issubclass(type(value), (tuple, list)) or len(value) <= kept:
        return snapshot(value)
    return tuple(objects.keep(item) if at == kept else snapshot(item) for at, item in enumerate(value))


def vjp(objects: StudentObjects, request: Request) -> dict[str, Any]:
    """Make a call and return its gradients."""
    args = [objects.local(arg) for arg in request["args"]]
    kwargs = {name: objects.local(arg) for name, arg in request["kwargs"].items()}
    owner = objects.find([request["ref"][0], request["ref"][1][:-1]])
    return pull_back(objects.find(request["ref"]), owner, args, kwargs, request["cotangent"], objects.watch.over)


def measure(objects: StudentObjects, request: Request) -> dict[str, Any]:
    """Count the cost of calls of one function."""
    from grader.sandbox.worker.meters.measure import measure

    if objects.modules is None:
        raise MissingError(request["path"][0])
    return measure(objects.modules, request["main"], request["calls"])


def prepare(objects: StudentObjects, request: Request) -> None:
    """Run a script up to its measured call, under a handle that the trusted side chose."""
    if objects.modules is None:
        raise MissingError(request["path"][0])
    performance = Performance(objects.modules.main, request["script"])
    for call in performance.before():
        call()
    objects.made[request["number"]] = performance


def make(objects: StudentObjects, request: Request) -> None:
    """Make an object of a student's class, under a handle that the trusted side chose."""
    init, _, _, named, _ = request["made"]
    with objects.watch.over(init, named):
        objects.made[request["number"]] = make_object(objects.find(request["ref"]), request["made"])


def fill(objects: StudentObjects, request: Request) -> None:
    """Set the parameters of a torch module."""
    fill_parameters(objects.find(request["ref"]), request["state"])


def parameters(objects: StudentObjects, request: Request) -> dict[str, Any]:
    """Return the parameters of a torch module by name."""
    return dict(objects.find(request["ref"]).named_parameters())


def seed(objects: StudentObjects, request: Request) -> None:
    """Seed every random generator."""
    del objects
    seed_everything(request["seed"])


OPERATIONS: dict[str, Callable[[StudentObjects, Request], Any]] = {
    "load": load,
    "get": get,
    "call": call,
    "vjp": vjp,
    "probe": probe,
    "measure": measure,
    "prepare": prepare,
    "make": make,
    "fill": fill,
    "parameters": parameters,
    "seed": seed,
    "on_device": gpu_operations.on_device,
    "on_gpu": gpu_operations.on_gpu,
    "gpu_cost": gpu_operations.gpu_cost,
}

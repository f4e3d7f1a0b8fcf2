"""Operations that the trusted side may ask of a worker, by name.

Those for costs and GPUs import their modules only when they run: most workers never need them, and a worker for NumPy
has no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.script import Performance, snapshot
from grader.sandbox.protocol.script import fill as fill_parameters
from grader.sandbox.protocol.script import make as make_object
from grader.sandbox.protocol.wire import UnsendableError
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


def on_device(objects: StudentObjects, request: Request) -> list[dict[str, Any]]:
    """Make calls on the simulated GPU."""
    from grader.sandbox.worker.gpu.call import on_device

    function = objects.find(request["ref"])
    handle, path = request["ref"]
    owner = function if handle and not path else objects.find([handle, path[:-1]])
    elsewhere, gpu, files = request["elsewhere"], request["gpu"], objects.filenames
    results: list[dict[str, Any]] = []
    for (args, kwargs), traced in zip(request["calls"], request["traced"], strict=True):
        args = [objects.local(arg) for arg in args]
        kwargs = {name: objects.local(arg) for name, arg in kwargs.items()}
        how = {"elsewhere": elsewhere, "gpu": gpu, "files": files, "traced": traced}
        with objects.watch.over(args, kwargs):
            answer = on_device(function, owner, args, kwargs, **how)
        results.append(_sendable(objects, answer))
    return results


def on_gpu(objects: StudentObjects, request: Request) -> list[dict[str, Any]]:
    """Make calls on the real GPU."""
    from grader.sandbox.worker.gpu.real import on_gpu

    function, elsewhere, files = objects.find(request["ref"]), request["elsewhere"], objects.filenames
    return [
        _sendable(objects, on_gpu(function, args, kwargs, objects.watch.over, elsewhere=elsewhere, files=files))
        for args, kwargs in request["calls"]
    ]


def gpu_cost(objects: StudentObjects, request: Request) -> dict[str, Any]:
    """Measure the memory and time of calls on the real GPU."""
    from grader.sandbox.worker.gpu.real import cost_on_gpu

    function = objects.find(request["ref"])
    return cost_on_gpu(function, request["args"], repeats=request["repeats"], keep=request["keep"])


def _sendable(objects: StudentObjects, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a call on a device with its error described, or its value as it is now."""
    if (error := answer.pop("error", None)) is not None:
        return {**answer, "error": objects.describe(error)}
    return {**answer, "value": snapshot(answer["value"])}


def watch(loaded: StudentObjects, request: Request) -> list[list[str]]:
    """Make the calls of the checks again with the meters of NumPy; return the names of the library calls of each.

    Code must not behave only where it is measured. Objects get new handles, the same that they had in the checks.
    """
    from grader.sandbox.worker.meters.measure import MeteredModules

    if not isinstance(loaded.modules, MeteredModules):
        raise TypeError("only a program with meters can be watched")
    seed_everything(0)
    meter = loaded.modules.meter
    objects = StudentObjects()
    objects.modules = loaded.modules
    found: list[list[str]] = []
    meter.reset()
    for one in request["requests"]:
        meter.events.clear()
        _carry_out(objects, one)
        found.append([*meter.events])
    return found


def _carry_out(objects: StudentObjects, request: Request) -> None:
    with suppress(BaseException):  # the check has judged it
        for earlier in request.get("before", ()):
            OPERATIONS[earlier["op"]](objects, earlier)
        reply = OPERATIONS[request["op"]](objects, request)
        with suppress(UnsendableError):
            encode({"ok": reply}, objects.keep)  # only for the handles that it gives to objects


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
    "on_device": on_device,
    "on_gpu": on_gpu,
    "gpu_cost": gpu_cost,
    "watch": watch,
}

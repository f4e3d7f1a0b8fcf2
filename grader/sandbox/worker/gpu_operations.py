"""Operations of a worker that call on a GPU, simulated or real.

They import `worker.gpu` only when they run: it needs torch, and a NumPy worker has none.
"""

from __future__ import annotations

from typing import Any

from grader.sandbox.protocol.snapshots import snapshot
from grader.sandbox.worker.objects import StudentObjects

Request = dict[str, Any]


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

"""Calls of student functions on the simulated GPU."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from grader.sandbox.worker.gpu.cuda_api import simulated_cuda
from grader.sandbox.worker.gpu.functions import SimulatedFunctions
from grader.sandbox.worker.gpu.labels import CPU, GPU, MAX_DEPTH, Label, Labels, tensors_in
from grader.sandbox.worker.gpu.operations import SimulatedOperations
from grader.sandbox.worker.gpu.simulated import SimulatedGpu
from grader.sandbox.worker.gpu.watching import Watching

LABELS = Labels()  # of this process: a tensor that the student keeps between calls stays on its device


def on_device(
    function: Callable[..., Any],
    owner: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    elsewhere: Collection[int | str] = (),
    gpu: bool = True,
    files: Collection[str] = (),
    traced: bool = True,
) -> dict[str, Any]:
    """Call with every tensor on the GPU, except in the arguments that `elsewhere` names. Return an exception, too.

    If `owner` is a torch module, its `.to` moves it to the GPU first. A traced call is followed step by step.
    """
    simulated = SimulatedGpu(LABELS, files, gpu=gpu)
    named = dict(enumerate(args)) | dict(kwargs)
    for name, arg in named.items():
        device = GPU if gpu and name not in elsewhere else CPU
        for number, tensor in enumerate(tensors_in((arg,))):
            LABELS.put(tensor, Label(device, frozenset({(name, number)} if device == CPU else ())))
    for one in gc.get_objects():  # what the student's code keeps, or the course gives
        if issubclass(type(one), torch.Tensor):  # `isinstance` would ask the object, and some objects warn
            LABELS.keep(one)
    simulated.lives_on_gpu = any(map(LABELS.on_gpu, tensors_in(named.values())))
    answer: dict[str, Any] = {}
    functions, operations = SimulatedFunctions(simulated), SimulatedOperations(simulated)
    watching = Watching(simulated, functions, operations, traced=traced)
    with simulated_cuda(simulated), functions, operations, watching:
        try:
            if gpu and isinstance(owner, torch.nn.Module):
                owner.to(GPU)
                simulated.copies.clear()
                simulated.moved.clear()
            answer["value"] = function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - the student's SystemExit and KeyboardInterrupt, too
            answer["error"] = error
    results = [LABELS.of(tensor) for tensor in sendable(answer.get("value"))]
    if simulated.lives_on_gpu:
        for label in results:
            if label.device != GPU:
                simulated.find("left_on_cpu", "", 0, label.place)
    return {
        **answer,
        "devices": [str(label.device) for label in results],
        "findings": [list(finding) for finding in simulated.findings],
        "copies": [list(copy) for copy in simulated.copies],
    }


def sendable(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """Yield the tensors of a value that can be sent, in the order in which the trusted side finds them."""
    kind = type(value)
    items: Iterable[Any] = ()
    if kind in (torch.Tensor, torch.nn.Parameter):
        if value.layout is torch.strided and not value.is_quantized and value.device.type != "meta":
            yield value
    elif kind is list:
        items = value
    elif issubclass(kind, tuple):
        items = tuple.__iter__(value)
    elif issubclass(kind, dict):
        items = dict.values(value)
    if depth <= MAX_DEPTH:
        for item in items:
            yield from sendable(item, depth + 1)

"""Calling on the device: one call of a student's function under the pretence, in the worker, and what was noted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from grader.sandbox.worker.gpu.cuda_api import machine
from grader.sandbox.worker.gpu.functions import SimulatedFunctions
from grader.sandbox.worker.gpu.labels import CPU, GPU, MAX_DEPTH, Label, Labels, tensors_in
from grader.sandbox.worker.gpu.operations import SimulatedOperations
from grader.sandbox.worker.gpu.simulated import SimulatedGpu

LABELS = Labels()  # of the whole process: what a student keeps from one call to the next stays where it is


def on_device(
    function: Callable[..., Any],
    owner: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    elsewhere: Collection[int | str] = (),
    gpu: bool = True,
    files: Collection[str] = (),
) -> dict[str, Any]:
    """Call with every tensor on the GPU but those of the arguments named; an exception is a part of the answer.

    A torch module whose method this is moves to the GPU first, by its own `.to`.
    """
    pretence = SimulatedGpu(LABELS, files, gpu=gpu)
    named = dict(enumerate(args)) | dict(kwargs)
    for name, arg in named.items():
        device = GPU if gpu and name not in elsewhere else CPU
        for number, tensor in enumerate(tensors_in((arg,))):
            LABELS.put(tensor, Label(device, frozenset({(name, number)} if device == CPU else ())))
    pretence.lives_on_gpu = any(map(LABELS.on_gpu, tensors_in(named.values())))
    answer: dict[str, Any] = {}
    with machine(pretence), SimulatedFunctions(pretence), SimulatedOperations(pretence):
        try:
            if gpu and isinstance(owner, torch.nn.Module):
                owner.to(GPU)
                pretence.copies.clear()
                pretence.moved.clear()
            answer["value"] = function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - the student's, SystemExit and the like among them
            answer["error"] = error
    results = [LABELS.of(tensor) for tensor in sendable(answer.get("value"))]
    if pretence.lives_on_gpu:
        for label in results:
            if label.device != GPU:
                pretence.find("left_on_cpu", "", 0, label.place)
    return {
        **answer,
        "devices": [str(label.device) for label in results],
        "findings": [list(finding) for finding in pretence.findings],
        "copies": [list(copy) for copy in pretence.copies],
    }


def sendable(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """Yield the tensors of a value that will arrive as such on the trusted side, in their order there."""
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

"""Replacement of torch.cuda's functions, so that the machine seems to have one GPU, or none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
import torch.amp.autocast_mode
import torch.utils._device
import torch.utils.dlpack

from grader.sandbox.worker.gpu.labels import GPU, Label, memory_of, tensors_in
from grader.sandbox.worker.gpu.simulated import SimulatedGpu

NAME = "a simulated GPU"
VERSION = "12.8"
_ABSENT = object()


@contextlib.contextmanager
def simulated_cuda(simulated: SimulatedGpu) -> Iterator[None]:
    """Make torch answer for the simulated machine. Undo global settings of torch that the student changes."""
    changes = [*answers(simulated), *unseen(simulated), *(autocast() if simulated.gpu else ())]
    before = [(owner, name, vars(owner).get(name, _ABSENT)) for owner, name, _ in changes]
    default = torch.utils._device.CURRENT_DEVICE
    for owner, name, value in changes:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, old in before:
            delattr(owner, name) if old is _ABSENT else setattr(owner, name, old)
        if default != torch.utils._device.CURRENT_DEVICE:
            torch.set_default_device(default)


def answers(simulated: SimulatedGpu) -> Iterator[tuple[Any, str, Any]]:
    """Yield the replacements: module, name and new value."""
    count = int(simulated.gpu)

    def synchronize(*_: Any, **__: Any) -> None:
        if simulated.gpu:
            simulated.sync("synchronize")

    class Stream:
        """A stream or an event. There is nothing to wait for, but waiting is noted."""

        def __init__(self, *_: Any, **__: Any) -> None:
            simulated.device(GPU)

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("__"):
                raise AttributeError(name)
            return synchronize if name == "synchronize" else lambda *_, **__: None

    cuda, accelerator = torch.cuda, torch.accelerator
    compiled = cuda._is_compiled()
    # A student may have imported the original `is_available`, so what that calls must answer too. Any other caller of
    # `_is_compiled` would go on to import more of CUDA, so it gets the true answer.
    asking = ("is_available", "device_count")
    yield cuda, "_is_compiled", lambda: sys._getframe(1).f_code.co_name in asking or compiled
    yield cuda, "_cached_device_count", count
    yield torch._C, "_cuda_getDeviceCount", lambda: count
    yield cuda, "_lazy_init", lambda: simulated.device(GPU)
    yield cuda, "is_initialized", lambda: bool(count)
    for owner in (cuda, accelerator):
        yield owner, "is_available", lambda: bool(count)
        yield owner, "device_count", lambda: count
        yield owner, "synchronize", synchronize
    yield accelerator, "current_accelerator", lambda *_, **__: torch.device("cuda") if count else None
    yield accelerator, "current_device_index", lambda: simulated.device(GPU).index
    yield cuda, "current_device", lambda: simulated.device(GPU).index
    yield cuda, "set_device", lambda device: simulated.device(device) and None
    yield cuda, "_exchange_device", lambda _: 0
    yield cuda, "_maybe_exchange_device", lambda _: 0
    properties = SimpleNamespace(name=NAME, major=8, minor=0, total_memory=16 << 30, multi_processor_count=1)
    yield cuda, "get_device_properties", lambda device=None: simulated.device(device or GPU) and properties
    yield cuda, "get_device_name", lambda device=None: simulated.device(device or GPU) and NAME
    yield cuda, "get_device_capability", lambda device=None: simulated.device(device or GPU) and (8, 0)
    yield cuda, "is_bf16_supported", lambda *_, **__: bool(count)
    yield cuda, "empty_cache", lambda: None
    yield torch.Tensor, "record_stream", lambda _, __: None  # there is only one stream
    yield cuda, "Stream", Stream
    yield cuda, "Event", Stream
    yield cuda, "current_stream", Stream
    yield accelerator, "current_stream", Stream
    yield cuda, "default_stream", Stream
    yield cuda, "stream", lambda _: contextlib.nullcontext()
    yield torch.backends.cuda, "is_built", lambda: bool(count)
    yield torch.version, "cuda", VERSION if count else None


def unseen(simulated: SimulatedGpu) -> Iterator[tuple[Any, str, Any]]:
    """Yield the replacements of functions that neither mode sees."""

    def noted(function: Callable[..., Any], reason: str) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            given = tensors_in((args, kwargs))
            if not any(map(simulated.labels.on_gpu, given)):
                return function(*args, **kwargs)
            simulated.unwatched(reason)
            with simulated.pause():
                result = function(*args, **kwargs)
            before = set(map(memory_of, given))
            for tensor in tensors_in((result,)):
                if memory_of(tensor) not in before:
                    simulated.labels.put(tensor, Label(GPU, place=simulated.place()))
            return result

        return run

    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        yield kind, "__call__", noted(kind.__call__, "compiled")
    for owner, name in ((torch, "to_dlpack"), (torch.utils.dlpack, "to_dlpack"), (torch._C, "_to_dlpack")):
        yield owner, name, noted(torch._C._to_dlpack, "memory")


def autocast() -> Iterator[tuple[Any, str, Any]]:
    """Yield the replacements that run GPU autocast on the CPU, in the GPU's precision."""
    kind = torch.amp.autocast_mode.autocast
    start, enter, leave = kind.__init__, kind.__enter__, kind.__exit__

    def start_on_cpu(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.get_autocast_dtype("cuda")
        start(self, device_type, dtype, *args, **kwargs)

    def hidden(function: Callable[..., Any]) -> Callable[..., Any]:
        """Hide a call from the function mode: under it, autocast imports a tracer, which a jail does not allow."""

        def run(*args: Any) -> Any:
            with torch._C.DisableTorchFunction():
                return function(*args)

        return run

    yield kind, "__init__", start_on_cpu
    yield kind, "__enter__", hidden(enter)
    yield kind, "__exit__", hidden(leave)

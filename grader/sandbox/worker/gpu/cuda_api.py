"""The machine: what torch.cuda says of it, with one GPU that is not there or, the other way round, with none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
import torch.amp.autocast_mode
import torch.utils._device

from grader.sandbox.worker.gpu.labels import GPU
from grader.sandbox.worker.gpu.simulated import SimulatedGpu

NAME = "a GPU that is not there"
_ABSENT = object()


@contextlib.contextmanager
def machine(pretence: SimulatedGpu) -> Iterator[None]:
    """Have torch answer for the pretended machine; what a student sets for all of torch is undone."""
    changes = [*answers(pretence), *(autocast() if pretence.gpu else ())]
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


def answers(pretence: SimulatedGpu) -> Iterator[tuple[Any, str, Any]]:
    """Yield what to put in place of what: the module, the name, the answer."""
    count = int(pretence.gpu)

    def synchronize(*_: Any, **__: Any) -> None:
        if pretence.gpu:
            pretence.sync("synchronize")

    class Stream:
        """A stream, or an event on it: there is nothing to wait for, but waiting is noted."""

        def __init__(self, *_: Any, **__: Any) -> None:
            pretence.device(GPU)

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("__"):
                raise AttributeError(name)
            return synchronize if name == "synchronize" else lambda *_, **__: None

    cuda, accelerator = torch.cuda, torch.accelerator
    compiled = cuda._is_compiled()
    # A student may have imported `is_available` by its name: what it asks answers, too. What else asks whether there
    # is CUDA wants to import more of it.
    asking = ("is_available", "device_count")
    yield cuda, "_is_compiled", lambda: sys._getframe(1).f_code.co_name in asking or compiled
    yield cuda, "_cached_device_count", count
    yield torch._C, "_cuda_getDeviceCount", lambda: count
    yield cuda, "_lazy_init", lambda: pretence.device(GPU)
    yield cuda, "is_initialized", lambda: bool(count)
    for owner in (cuda, accelerator):
        yield owner, "is_available", lambda: bool(count)
        yield owner, "device_count", lambda: count
        yield owner, "synchronize", synchronize
    yield accelerator, "current_accelerator", lambda *_, **__: torch.device("cuda") if count else None
    yield accelerator, "current_device_index", lambda: pretence.device(GPU).index
    yield cuda, "current_device", lambda: pretence.device(GPU).index
    yield cuda, "set_device", lambda device: pretence.device(device) and None
    yield cuda, "_exchange_device", lambda _: 0
    yield cuda, "_maybe_exchange_device", lambda _: 0
    about = SimpleNamespace(name=NAME, major=8, minor=0, total_memory=16 << 30, multi_processor_count=1)
    yield cuda, "get_device_properties", lambda device=None: pretence.device(device or GPU) and about
    yield cuda, "get_device_name", lambda device=None: pretence.device(device or GPU) and NAME
    yield cuda, "get_device_capability", lambda device=None: pretence.device(device or GPU) and (8, 0)
    yield cuda, "is_bf16_supported", lambda *_, **__: bool(count)
    yield cuda, "empty_cache", lambda: None
    yield torch.Tensor, "record_stream", lambda _, __: None  # there is but one stream
    yield cuda, "Stream", Stream
    yield cuda, "Event", Stream
    yield cuda, "current_stream", Stream
    yield accelerator, "current_stream", Stream
    yield cuda, "default_stream", Stream
    yield cuda, "stream", lambda _: contextlib.nullcontext()


def autocast() -> Iterator[tuple[Any, str, Any]]:
    """Yield what makes autocast of the GPU one of the CPU, in the GPU's own precision."""
    kind = torch.amp.autocast_mode.autocast
    start, enter, leave = kind.__init__, kind.__enter__, kind.__exit__

    def start_on_cpu(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.get_autocast_dtype("cuda")
        start(self, device_type, dtype, *args, **kwargs)

    def unseen(function: Callable[..., Any]) -> Callable[..., Any]:
        """Under a mode for functions, autocast would import a tracer, which no jail lets it find."""

        def run(*args: Any) -> Any:
            with torch._C.DisableTorchFunction():
                return function(*args)

        return run

    yield kind, "__init__", start_on_cpu
    yield kind, "__enter__", unseen(enter)
    yield kind, "__exit__", unseen(leave)

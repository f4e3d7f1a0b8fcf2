"""Calls of student functions on a real GPU, which the worker opens before it reads any student code.

The answers have the same form as those of the simulated GPU, so that one suite can use both.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.protocol.device_findings import MAX_NOTES
from grader.sandbox.worker.autograd import Over
from grader.sandbox.worker.error_description import student_line
from grader.sandbox.worker.gpu.call import sendable
from grader.sandbox.worker.gpu.labels import FileLine, running_line, tensors_in

SYNC = "called a synchronizing CUDA operation"
MIXED = "same device"
WARM_CALLS = 3
# Saved here, before a student's code can replace them.
_stats, _reset, _wait = torch.cuda.memory_stats, torch.cuda.reset_peak_memory_stats, torch.cuda.synchronize
_Event, _debug = torch.cuda.Event, torch.cuda.set_sync_debug_mode


def open_gpu() -> None:
    """Load the GPU kernels. This takes a second, while the previous worker is still busy.

    The built-in uses its other kernels: cuDNN compiles one for every dtype and kind of mask, a second each. A worker
    has no folder to keep them in.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        x = torch.ones(1, 1, 64, 64, device="cuda", dtype=dtype)
        torch.softmax((x @ x).masked_fill(x == 0, 0.0), dim=-1)
        torch.nn.functional.scaled_dot_product_attention(x, x, x)
    torch.cuda.synchronize()


def on_gpu(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    over: Over,
    *,
    elsewhere: Collection[int | str] = (),
    files: Collection[str] = (),
) -> dict[str, Any]:
    """Call with every tensor on the GPU, except in the arguments that `elsewhere` names. Return an exception, too.

    The call runs in the context that `over` makes of its arguments.
    """
    args = [arg if place in elsewhere else moved(arg) for place, arg in enumerate(args)]
    kwargs = {name: arg if name in elsewhere else moved(arg) for name, arg in kwargs.items()}
    answer: dict[str, Any] = {}
    watch = Watch(files)
    with over(args, kwargs):
        _wait()
        with watch.watching():
            try:
                answer["value"] = function(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - the student's SystemExit and KeyboardInterrupt, too
                answer["error"] = error
    results = list(sendable(answer.get("value")))
    findings = watch.findings()
    if "error" in answer and MIXED in str(answer["error"]):
        findings.append(["mixed_devices", "", 0, *student_line(answer["error"], files)])
    lives_on_gpu = any(one.is_cuda for one in tensors_in((*args, *kwargs.values())))
    findings += [["left_on_cpu", "", 0, "", 0] for one in results if lives_on_gpu and not one.is_cuda]
    devices = [str(one.device) for one in results]
    if "value" in answer:
        answer["value"] = moved(answer["value"], "cpu")
    return {**answer, "devices": devices, "findings": findings, "copies": watch.copies}


def cost_on_gpu(function: Callable[..., Any], args: Sequence[Any], *, repeats: int, keep: bool) -> dict[str, Any]:
    """Return the peak memory of one call beyond its arguments, and the times of `repeats` more calls.

    Memory is the number of bytes requested, before the allocator rounds up. Times are in milliseconds, by the GPU's
    own clock.
    """
    args = [moved(arg) for arg in args]
    function(*args)  # the first call also loads kernels, which is not its own memory
    _wait()
    _reset()
    before = _stats()["requested_bytes.all.current"]
    value = function(*args)
    peak = _stats()["requested_bytes.all.peak"] - before
    value = moved(value, "cpu") if keep else None
    for _ in range(WARM_CALLS if repeats else 0):
        function(*args)
    times = []
    for _ in range(repeats):
        started, ended = _Event(enable_timing=True), _Event(enable_timing=True)
        _wait()
        started.record()
        function(*args)
        ended.record()
        _wait()
        times.append(float(started.elapsed_time(ended)))
    return {"peak": peak, "times": times, "value": value}


def moved(value: Any, device: str = "cuda") -> Any:
    """Return a value with all its tensors moved to a device."""
    if isinstance(value, torch.Tensor):
        return value.detach().to(device)
    if isinstance(value, list):
        return [moved(item, device) for item in value]
    if isinstance(value, tuple):
        return tuple(moved(item, device) for item in tuple.__iter__(value))
    if isinstance(value, dict):
        return {key: moved(item, device) for key, item in dict.items(value)}
    return value


class Watch:
    """Counts, per line, how often the CPU waited, and the copies to the GPU that explain a wait."""

    def __init__(self, files: Collection[str]) -> None:
        self.files = files
        self.waits: Counter[FileLine] = Counter()
        self.copies: list[list[Any]] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        with warnings.catch_warnings(), _Copies(self), _Makings(self):
            warnings.simplefilter("always")
            warnings.showwarning = self.warned
            _debug("warn")
            try:
                yield
            finally:
                _debug("default")

    def warned(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if SYNC in str(message):
            self.waits[running_line(self.files)] += 1

    def copied(self, *, waited: bool) -> None:
        """Note a copy to the GPU in the line that is running."""
        if len(self.copies) < MAX_NOTES:
            self.copies.append([not waited, *running_line(self.files)])

    def findings(self) -> list[list[Any]]:
        reasons = Counter((file, line) for _, file, line in self.copies)
        return [["host_sync", "", 0, *place] for place, count in self.waits.items() if count > reasons[place]]


class _Makings(TorchFunctionMode):  # type: ignore[misc]
    """Notes every tensor made on the GPU from Python numbers: `torch.tensor` copies without a separate operation."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = len(self.watch.copies)
        result = func(*args, **(kwargs or {}))
        if func in _MAKERS and len(self.watch.copies) == before and on_the_gpu(result):
            data = args[func is torch.Tensor.new_tensor] if len(args) > (func is torch.Tensor.new_tensor) else None
            if not on_the_gpu(data):
                self.watch.copied(waited=True)
        return result


_MAKERS = (torch.tensor, torch.as_tensor, torch.asarray, torch.scalar_tensor, torch.Tensor.new_tensor)


class _Copies(TorchDispatchMode):  # type: ignore[misc] # torch gives it no types
    """Notes every copy from the CPU to the GPU."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or the first use would import torch's compiler, which takes seconds in every worker

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in _COPIES:
            target, source = (args[0], args[1]) if func is _COPIES[1] else (result, args[0])
            if on_the_gpu(target) and not on_the_gpu(source):
                self.watch.copied(waited=not (kwargs or {}).get("non_blocking", len(args) > 2 and args[2]))
        return result


_COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


def on_the_gpu(value: Any) -> bool:
    """Whether this is a tensor on the GPU."""
    return isinstance(value, torch.Tensor) and value.is_cuda

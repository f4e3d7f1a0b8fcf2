"""The pretence: one call's state, shared by the mode for functions and the mode for operations."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils._device

from grader.sandbox.worker.gpu.labels import BACK, CPU, GPU, MADE, NOWHERE, FileLine, Label, Labels, tensors_in

MAX_NOTES = 200  # a loop may do the same wrong thing with ever new words


class NoSimulatedGpuError(AssertionError, RuntimeError):
    """What torch says where there is no GPU: an AssertionError or a RuntimeError, by how it was built."""


class SimulatedGpu:
    """What is known of tensors while a student's code runs, and what has been noted about it."""

    def __init__(self, labels: Labels, files: Collection[str], *, gpu: bool = True) -> None:
        self.labels = labels
        self.files = files
        self.gpu = gpu
        self.findings: dict[tuple[str, str, int, str, int], None] = {}  # each once, in order
        self.copies: list[tuple[bool, str, int]] = []
        self.moved: Counter[object] = Counter()  # by origin
        self.called = ""  # the function of torch's at work
        self.home: torch.device | None = None  # where that function's own tensors are made
        self.paused = False
        self.lives_on_gpu = False  # whether a tensor was given there

    def run(
        self, function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], home: torch.device | None = None
    ) -> Any:
        """Call a function of torch's; what it makes for itself lives with its arguments, if nothing else is said."""
        if home is None:
            home = GPU if any(map(self.labels.on_gpu, tensors_in((args, kwargs)))) else None
        with self.within(function, home):
            return function(*args, **kwargs)

    @contextmanager
    def within(self, function: Any, home: torch.device | None) -> Iterator[None]:
        """Know which function of torch's is at work."""
        outer = self.called, self.home
        self.called, self.home = str(getattr(function, "__name__", "")), home
        try:
            yield
        finally:
            self.called, self.home = outer

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Look away: torch computes something for itself."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def default(self) -> torch.device:
        """Return where tensors are made for which no device is given."""
        current = torch.utils._device.CURRENT_DEVICE
        return CPU if current is None else self.device(current)

    def device(self, spec: Any) -> torch.device:
        """Return the device that an argument means, or raise what a machine of this kind would."""
        device = torch.device("cuda", spec) if type(spec) is int else torch.device(spec)
        if device.type != "cuda":
            return CPU if device.type == "cpu" else device
        if not self.gpu:
            raise NoSimulatedGpuError("No CUDA GPUs are available")
        if device.index not in (None, 0):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return GPU

    def place(self) -> FileLine:
        """Return the innermost line of the student's that is at work."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename in self.files:
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment] # the outermost has none
        return NOWHERE

    def find(self, kind: str, name: str, origin: int = 0, place: FileLine | None = None) -> None:
        """Note a finding once for each line: the function of torch's it is about, and the line a tensor came from."""
        if len(self.findings) < MAX_NOTES:
            self.findings[(kind, name, origin, *(place or self.place()))] = None

    def sync(self, name: str = "") -> None:
        """Note that the CPU has to wait for the GPU."""
        self.find("host_sync", name or self.called)

    def copied(self, label: Label, *, axes: int, non_blocking: bool = False) -> None:
        """Note a copy from the CPU to the GPU, and what is wrong with it."""
        place = self.place()
        if len(self.copies) < MAX_NOTES:
            self.copies.append((non_blocking, *place))
        if BACK in label.origins:
            self.find("round_trip", self.called, label.place[1], place)
        # A tensor without axes may stay on the CPU, so it may also be moved; and a module is made before it is moved.
        elif label.origins == {MADE} and axes and self.lives_on_gpu and not _moves_a_module():
            self.find("made_on_cpu", self.called, label.place[1], place)
        for origin in label.origins - {MADE, BACK} if axes else ():
            self.moved[origin] += 1
            if self.moved[origin] == 2:
                self.find("moved_more_than_once", self.called, 0, place)

    def mixed(self, name: str, stray: Label) -> RuntimeError:
        """Note operands of two devices, and return the error that torch raises for them."""
        self.find("mixed_devices", self.called or name, stray.place[1])
        return RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )


def _moves_a_module() -> bool:
    """Whether it is `nn.Module.to`, or one of its kind, that moves a tensor."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code is torch.nn.Module._apply.__code__:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False

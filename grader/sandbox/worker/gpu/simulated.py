"""State of one call on the simulated GPU, shared by the function mode and the operation mode."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils._device

from grader.sandbox.worker.gpu.labels import (
    BACK,
    CPU,
    GPU,
    MADE,
    FileLine,
    Label,
    Labels,
    running_line,
    tensors_in,
)

FEW = 8  # numbers that may be copied in each call; more of them are a table that was made on the CPU
MAX_NOTES = 200  # a loop may make the same mistake with a new message each time


class NoSimulatedGpuError(AssertionError, RuntimeError):
    """The error of torch without a GPU: AssertionError or RuntimeError, depending on the build of torch."""


class SimulatedGpu:
    """Labels of tensors while a student's code runs, and the findings about that code."""

    def __init__(self, labels: Labels, files: Collection[str], *, gpu: bool = True) -> None:
        self.labels = labels
        self.files = files
        self.gpu = gpu
        self.findings: dict[tuple[str, str, int, str, int], None] = {}  # each once, in order
        self.copies: list[tuple[bool, str, int]] = []
        self.moved: Counter[object] = Counter()  # by origin
        self.called = ""  # the torch function that is running
        self.home: torch.device | None = None  # the device for tensors that this function makes
        self.paused = False
        self.depth = 0  # how many torch functions are running, one inside the other
        self.lives_on_gpu = False  # whether an argument is on the GPU

    def run(
        self, function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], home: torch.device | None = None
    ) -> Any:
        """Call a torch function. By default, the tensors it makes go to the device of its arguments."""
        if home is None:
            home = GPU if any(map(self.labels.on_gpu, tensors_in((args, kwargs)))) else None
        with self.within(function, home):
            return function(*args, **kwargs)

    @contextmanager
    def within(self, function: Any, home: torch.device | None) -> Iterator[None]:
        """Remember which torch function is running."""
        outer = self.called, self.home, self.depth
        self.called, self.home, self.depth = str(getattr(function, "__name__", "")), home, self.depth + 1
        try:
            yield
        finally:
            self.called, self.home, self.depth = outer

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Simulate nothing inside a `with` block: torch computes something internal."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def interrupt(self) -> tuple[Any, ...]:
        """Forget the running torch function while it calls student code. Return what `resume` needs."""
        state = self.called, self.home, self.paused, self.depth
        self.called, self.home, self.paused, self.depth = "", None, False, 0
        return state

    def resume(self, state: tuple[Any, ...]) -> None:
        """Go on with the torch function that `interrupt` forgot."""
        self.called, self.home, self.paused, self.depth = state

    def default(self) -> torch.device:
        """Return the device of new tensors when none is given."""
        current = torch.utils._device.CURRENT_DEVICE
        return CPU if current is None else self.device(current)

    def device(self, spec: Any) -> torch.device:
        """Return the device that an argument names, or raise the error of such a machine."""
        device = torch.device("cuda", spec) if type(spec) is int else torch.device(spec)
        if device.type != "cuda":
            return CPU if device.type == "cpu" else device
        if not self.gpu:
            raise NoSimulatedGpuError("No CUDA GPUs are available")
        if device.index not in (None, 0):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return GPU

    def place(self) -> FileLine:
        """Return the innermost line of the student's code that is running."""
        return running_line(self.files)

    def find(self, kind: str, name: str, origin: int = 0, place: FileLine | None = None) -> None:
        """Note a finding once per line, with the torch function and the line that a tensor came from."""
        if len(self.findings) < MAX_NOTES:
            self.findings[(kind, name, origin, *(place or self.place()))] = None

    def unwatched(self, reason: str, place: FileLine | None = None) -> None:
        """Note something that this simulation cannot follow."""
        self.find("unwatched", reason, 0, place)

    def sync(self, name: str = "") -> None:
        """Note that the CPU waits for the GPU."""
        self.find("host_sync", name or self.called)

    def copied(self, label: Label, *, axes: int, entries: int, non_blocking: bool = False) -> None:
        """Note a copy from the CPU to the GPU, and what is wrong with it."""
        place = self.place()
        if len(self.copies) < MAX_NOTES:
            self.copies.append((non_blocking, *place))
        if BACK in label.origins:
            self.find("round_trip", self.called, label.place[1], place)
        # A tensor without axes may stay on the CPU, so moving it is fine. A layer is always made before it is moved.
        elif label.origins == {MADE} and axes and self.lives_on_gpu and not _moves_a_layer(entries):
            self.find("made_on_cpu", self.called, label.place[1], place)
        for origin in label.origins - {MADE, BACK} if axes else ():
            self.moved[origin] += 1
            if self.moved[origin] == 2:
                self.find("moved_more_than_once", self.called, 0, place)

    def mixed(self, name: str, stray: Label) -> RuntimeError:
        """Note operands on two devices, and return the error that torch raises."""
        self.find("mixed_devices", self.called or name, stray.place[1])
        return RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )


def _moves_a_layer(entries: int) -> bool:
    """Whether `nn.Module.to` or a similar method is moving a few numbers, or a layer of torch's own.

    These begin on the CPU. A table that a module only carries does not have to.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code is torch.nn.Module._apply.__code__:
            kind = type(frame.f_locals.get("self"))
            is_layer = kind is not torch.nn.Module and kind.__module__.startswith("torch.nn.modules.")
            return is_layer or entries <= FEW
        frame = frame.f_back  # type: ignore[assignment]
    return False

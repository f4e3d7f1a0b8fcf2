"""Labels: the simulated device of each tensor's memory.

All numbers are really on the CPU. Labels belong to memory, not to tensors: a view is on the device of its base, and a
parameter that gets other memory (as `module.to` does) moves with it. Memory without a label is on the CPU.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)
MADE = "made"  # an origin: made on the CPU by the student's code
BACK = "back"  # an origin: copied from the GPU
# Types of tensors whose code is torch's own. The modes are off while a student's subclass answers.
PLAIN = {
    torch.Tensor,
    torch.nn.Parameter,
    torch.nn.Buffer,
    torch.nn.UninitializedParameter,
    torch.nn.UninitializedBuffer,
}
FileLine = tuple[str, int]
NOWHERE: FileLine = ("", 0)
_is_wrapped, _unwrapped = torch._C._functorch.is_functorch_wrapped_tensor, torch._C._functorch.get_unwrapped
MAX_DEPTH = 24  # of a student's lists and dicts: a list may contain itself


@dataclass(frozen=True)
class Label:
    """The simulated device of some memory, what it was computed from (on the CPU), and the line that made it."""

    device: torch.device = CPU
    origins: frozenset[object] = frozenset()
    place: FileLine = NOWHERE
    pinned: bool = False


class Labels:
    """Labels of all memory that still exists. They outlive a call, because a student may keep tensors."""

    def __init__(self) -> None:
        self.known: dict[int | None, tuple[Any, Label]] = {}
        self.numbers = itertools.count()

    def of(self, tensor: torch.Tensor) -> Label:
        key = memory_of(tensor)
        if key not in self.known:  # made by nothing that we saw, and not there before the call
            lender = self._lender(tensor) if _is_borrowed(tensor) else None
            self.put(tensor, lender or Label(origins=frozenset({MADE})))
        return self.known[key][1] if key in self.known else Label()

    def keep(self, tensor: torch.Tensor) -> None:
        """Label a tensor that was there before a call, unless it has a label: it is a new origin."""
        if memory_of(tensor) not in self.known:
            self.put(tensor, Label(origins=frozenset({next(self.numbers)})))

    def _lender(self, tensor: torch.Tensor) -> Label | None:
        """Return the label of the tensor whose memory another one uses by way of a NumPy array, if there is one."""
        address = _storage(tensor).data_ptr()
        for reference, label in tuple(self.known.values()):
            storage = reference()
            if storage is not None and storage.data_ptr() <= address < storage.data_ptr() + storage.nbytes():
                return label
        return None

    def put(self, tensor: torch.Tensor, label: Label) -> None:
        if (key := memory_of(tensor)) is not None:
            reference = weakref.ref(_storage(tensor), lambda _: self.known.pop(key, None))
            self.known[key] = (reference, label)

    def on_gpu(self, tensor: torch.Tensor) -> bool:
        return bool(self.of(tensor).device == GPU)


def memory_of(tensor: torch.Tensor) -> int | None:
    """Return a key for a tensor's memory; None for a sparse tensor, which has no memory of its own."""
    try:
        return int(_storage(tensor)._cdata)
    except (RuntimeError, NotImplementedError):
        return None


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    """Return a tensor's memory. The function mode does not see this."""
    with torch._C.DisableTorchFunction():
        while _is_wrapped(tensor):  # by torch.vmap or torch.func.grad
            tensor = _unwrapped(tensor)
        return tensor.untyped_storage()


def _is_borrowed(tensor: torch.Tensor) -> bool:
    """Whether the memory belongs to a NumPy array or another buffer."""
    try:
        return not _storage(tensor).resizable()
    except (RuntimeError, NotImplementedError):
        return False


def tensors_in(values: Iterable[Any], depth: int = 0) -> list[torch.Tensor]:
    """Return the tensors in arguments or results, including those in lists, tuples and dicts."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif depth < MAX_DEPTH and isinstance(value, list | tuple):
            found += tensors_in(value, depth + 1)
        elif depth < MAX_DEPTH and isinstance(value, dict):
            found += tensors_in(value.values(), depth + 1)
    return found


def running_line(files: Collection[str]) -> FileLine:
    """Return the innermost line of the student's code that is running."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename in files:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return NOWHERE

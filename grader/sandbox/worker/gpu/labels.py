"""Labels: where the memory of each tensor pretends to live.

The numbers are all on the CPU. Memory is labelled, not tensors: a view lives where its base lives, and a parameter
that is given other memory (as `module.to` does) moves with it. What has no label is on the CPU.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)
MADE = "made"  # an origin: by the student's own call, on the CPU
BACK = "back"  # an origin: copied from the GPU
FileLine = tuple[str, int]
NOWHERE: FileLine = ("", 0)
MAX_DEPTH = 24  # of a student's lists and dicts: one may hold itself


@dataclass(frozen=True)
class Label:
    """Where memory pretends to live, what it was computed from (on the CPU), and where in the code it was made."""

    device: torch.device = CPU
    origins: frozenset[object] = frozenset()
    place: FileLine = NOWHERE
    pinned: bool = False


class Labels:
    """The labels of all memory that is still there; they outlive a call, as what a student keeps does."""

    def __init__(self) -> None:
        self.known: dict[int | None, tuple[Any, Label]] = {}
        self.numbers = itertools.count()

    def of(self, tensor: torch.Tensor) -> Label:
        key = memory_of(tensor)
        if key not in self.known:  # not made by an operation that was seen, so an origin of its own
            self.put(tensor, Label(origins=frozenset({next(self.numbers)})))
        return self.known[key][1] if key in self.known else Label()

    def put(self, tensor: torch.Tensor, label: Label) -> None:
        if (key := memory_of(tensor)) is not None:
            gone = weakref.ref(tensor.untyped_storage(), lambda _: self.known.pop(key, None))
            self.known[key] = (gone, label)

    def on_gpu(self, tensor: torch.Tensor) -> bool:
        return bool(self.of(tensor).device == GPU)


def memory_of(tensor: torch.Tensor) -> int | None:
    """Return what tells the memory of one tensor from another's; a sparse tensor has none of its own."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return None


def tensors_in(values: Iterable[Any], depth: int = 0) -> list[torch.Tensor]:
    """Return the tensors of arguments or results, also those in lists, tuples and dicts."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif depth < MAX_DEPTH and isinstance(value, list | tuple):
            found += tensors_in(value, depth + 1)
        elif depth < MAX_DEPTH and isinstance(value, dict):
            found += tensors_in(value.values(), depth + 1)
    return found

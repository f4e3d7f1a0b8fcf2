"""Operations of torch under the pretence: where each result lives, and which operands may meet.

Whatever door a call came in by, it ends here: this is where mixed devices and syncs are found.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.worker.gpu.labels import CPU, GPU, MADE, Label, memory_of, tensors_in
from grader.sandbox.worker.gpu.simulated import SimulatedGpu

# The CPU waits for the result of these, or for the size of it.
SYNCS = {
    "_linalg_check_errors",
    "_local_scalar_dense",
    "_to_sparse",
    "_unique",
    "_unique2",
    "allclose",
    "bincount",
    "equal",
    "is_nonzero",
    "masked_select",
    "multinomial",
    "nonzero",
    "unique_consecutive",
    "unique_dim",
    "unique_dim_consecutive",
}
FILLS = {"masked_fill", "masked_fill_", "index_fill", "index_fill_"}  # if with a tensor, torch takes its number out
STRICT = {"cat", "stack", "gather", "index_select", "scatter", "scatter_"}  # not even a CPU tensor without axes
WRITES_AT = ("index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put")
READS_AT = ("index", "_unsafe_index")


@functools.cache
def known_as(operation: Any) -> tuple[str, tuple[int, ...], bool]:
    """Return an operation's name, the places of the arguments it writes to, and whether it is made of others."""
    schema = getattr(operation, "_schema", None)  # one of a higher order has none
    if schema is None:
        return str(operation.name()), (), False
    written = (n for n, one in enumerate(schema.arguments) if one.alias_info is not None and one.alias_info.is_write)
    return schema.name.partition("::")[2], tuple(written), operation._can_decompose()


class SimulatedOperations(TorchDispatchMode):  # type: ignore[misc] # torch gives it no types
    """Follows labels through every operation."""

    supports_higher_order_operators = True

    def __init__(self, pretence: SimulatedGpu) -> None:
        super().__init__()
        self.pretence = pretence

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nobody compiles this; the guard against it would import a compiler."""
        return False

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        pretence, labels = self.pretence, self.pretence.labels
        if pretence.paused:
            return operation(*args, **kwargs)
        name, written, composite = known_as(operation)
        if composite:  # in inference mode, operations arrive whole
            with self:
                return operation.decompose(*args, **kwargs)
        home = pretence.home
        if (asked := kwargs.get("device")) is not None and asked.type == "cuda":  # by torch.ops
            home, kwargs = pretence.device(asked), {**kwargs, "device": CPU}
        given = tensors_in((args, kwargs))
        known = [labels.of(tensor) for tensor in given]
        on_gpu = any(label.device == GPU for label in known)
        if on_gpu:
            self.check(name, written, args, kwargs)
        result = operation(*args, **kwargs)
        before = set(map(memory_of, given))
        fresh = [one for one in tensors_in((result,)) if memory_of(one) not in before]
        if fresh:
            device = GPU if on_gpu else CPU if given else home or pretence.default()
            origins: frozenset[object] = frozenset()
            if device == CPU:
                origins = frozenset[object]().union(*(label.origins for label in known)) or frozenset({MADE})
            label = Label(device, origins, pretence.place())
            for tensor in fresh:
                labels.put(tensor, label)
        return result

    def check(self, name: str, written: Sequence[int], args: Any, kwargs: dict[str, Any]) -> None:
        """Note what the CPU waits for, and refuse operands that may not meet; at least one is on the GPU."""
        pretence, labels = self.pretence, self.pretence.labels
        if name in READS_AT or name in WRITES_AT:
            self.check_index(name, args)
            return
        if name == "copy_":
            target, source = args[:2]
            if not labels.on_gpu(source):
                non_blocking = kwargs.get("non_blocking", len(args) > 2 and args[2])
                pretence.copied(labels.of(source), axes=source.dim(), non_blocking=bool(non_blocking))
            elif not labels.on_gpu(target):
                pretence.sync()
            return
        filled = name in FILLS and isinstance(args[-1], torch.Tensor) and labels.on_gpu(args[-1])
        if name in SYNCS or filled or (name == "repeat_interleave" and kwargs.get("output_size") is None):
            pretence.sync(pretence.called or name)
        for tensor in tensors_in((args, kwargs)):
            # A number may come as a tensor without axes, unless it is to hold the result.
            label = labels.of(tensor)
            if label.device != GPU and (tensor.dim() or name in STRICT or any(tensor is args[n] for n in written)):
                raise pretence.mixed(name, label)

    def check_index(self, name: str, args: Any) -> None:
        """Look at an index: it may be on the CPU, and one of truths must be counted before the result has a size."""
        pretence, labels = self.pretence, self.pretence.labels
        target = args[0]
        indices = [index for index in args[1] if isinstance(index, torch.Tensor)]
        value = args[2] if name in WRITES_AT else None
        if not labels.on_gpu(target):
            raise pretence.mixed(name, labels.of(target))
        if value is not None and not labels.on_gpu(value) and value.dim():
            raise pretence.mixed(name, labels.of(value))
        truths = [index for index in indices if index.dtype in (torch.bool, torch.uint8)]
        filled = value is not None and value.numel() == 1 and not labels.on_gpu(value) and len(indices) == 1
        if value is not None and not filled and not labels.on_gpu(value):
            pretence.copied(labels.of(value), axes=0)
        for index in indices:
            if not labels.on_gpu(index):
                pretence.copied(labels.of(index), axes=index.dim())
            elif truths and not filled:  # to fill with one number, torch does without counting
                pretence.sync("mask")

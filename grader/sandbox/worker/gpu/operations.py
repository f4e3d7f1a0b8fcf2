"""Torch operations on the simulated GPU: the device of each result, and operands that may not be mixed.

Every call ends in operations, however it was made. So mixed devices and syncs are found here.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.worker.gpu.labels import CPU, GPU, MADE, PLAIN, Label, memory_of, tensors_in
from grader.sandbox.worker.gpu.simulated import SimulatedGpu

# The CPU waits for the result of these, or for its size.
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
FILLS = {
    "masked_fill",
    "masked_fill_",
    "index_fill",
    "index_fill_",
}  # with a tensor as the value, torch reads the number
STRICT = {
    "cat",
    "stack",
    "gather",
    "index_select",
    "scatter",
    "scatter_",
}  # these refuse even a CPU tensor without axes
WRITES_AT = ("index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put")
READS_AT = ("index", "_unsafe_index")


@functools.cache
def traits_of(operation: Any) -> tuple[str, tuple[int, ...], bool]:
    """Return an operation's name, the positions of the arguments it writes to, and whether it is composite."""
    schema = getattr(operation, "_schema", None)  # a higher-order operation has none
    if schema is None:
        return str(operation.name()), (), False
    written = (n for n, one in enumerate(schema.arguments) if one.alias_info is not None and one.alias_info.is_write)
    return schema.name.partition("::")[2], tuple(written), operation._can_decompose()


class SimulatedOperations(TorchDispatchMode):  # type: ignore[misc] # torch gives it no types
    """The operation mode: gives every result a label."""

    supports_higher_order_operators = True

    def __init__(self, simulated: SimulatedGpu) -> None:
        super().__init__()
        self.simulated = simulated

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: the check would import a compiler."""
        return False

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        simulated, labels = self.simulated, self.simulated.labels
        if simulated.paused:
            return operation(*args, **kwargs)
        name, written, composite = traits_of(operation)
        if composite:  # in inference mode, these arrive here undivided
            with self:
                return operation.decompose(*args, **kwargs)
        home = simulated.home
        if (asked := kwargs.get("device")) is not None and asked.type == "cuda":  # asked for through torch.ops
            home, kwargs = simulated.device(asked), {**kwargs, "device": CPU}
        if not PLAIN.issuperset(types):
            simulated.unwatched("subclass")
        given = tensors_in((args, kwargs))
        known = [labels.of(tensor) for tensor in given]
        on_gpu = any(label.device == GPU for label in known)
        if on_gpu:
            self.check(name, written, args, kwargs)
        result = operation(*args, **kwargs)
        before = set(map(memory_of, given))
        made = tensors_in((result,))
        if on_gpu and any(memory_of(one) is None for one in made):
            simulated.unwatched("memory")  # sparse, or of another library: its numbers cannot be followed
        fresh = [one for one in made if memory_of(one) not in before]
        if fresh:
            device = GPU if on_gpu else CPU if given else home or simulated.default()
            origins: frozenset[object] = frozenset()
            if device == CPU:
                origins = frozenset[object]().union(*(label.origins for label in known)) or frozenset({MADE})
            label = Label(device, origins, simulated.place())
            for tensor in fresh:
                labels.put(tensor, label)
        return result

    def check(self, name: str, written: Sequence[int], args: Any, kwargs: dict[str, Any]) -> None:
        """Note a sync, and refuse operands on different devices. At least one operand is on the GPU."""
        simulated, labels = self.simulated, self.simulated.labels
        if name in READS_AT or name in WRITES_AT:
            self.check_index(name, args)
            return
        if name == "copy_":
            target, source = args[:2]
            if not labels.on_gpu(source):
                non_blocking = kwargs.get("non_blocking", len(args) > 2 and args[2])
                label, entries = labels.of(source), source.numel()
                simulated.copied(label, axes=source.dim(), entries=entries, non_blocking=bool(non_blocking))
            elif not labels.on_gpu(target):
                simulated.sync()
            return
        filled = name in FILLS and isinstance(args[-1], torch.Tensor) and labels.on_gpu(args[-1])
        if name in SYNCS or filled or (name == "repeat_interleave" and kwargs.get("output_size") is None):
            simulated.sync(simulated.called or name)
        targets = [args[n] for n in written if n < len(args)] + tensors_in((kwargs.get("out"),))
        for tensor in tensors_in((args, kwargs)):
            # A CPU tensor without axes counts as a number, unless the operation writes to it.
            label = labels.of(tensor)
            if label.device != GPU and (tensor.dim() or name in STRICT or any(tensor is one for one in targets)):
                raise simulated.mixed(name, label)

    def check_index(self, name: str, args: Any) -> None:
        """Check indexing. An index may be on the CPU; a boolean mask must be counted to know the size of the result."""
        simulated, labels = self.simulated, self.simulated.labels
        target = args[0]
        indices = [index for index in args[1] if isinstance(index, torch.Tensor)]
        value = args[2] if name in WRITES_AT else None
        if not labels.on_gpu(target):
            raise simulated.mixed(name, labels.of(target))
        if value is not None and not labels.on_gpu(value) and value.dim():
            raise simulated.mixed(name, labels.of(value))
        masks = [index for index in indices if index.dtype in (torch.bool, torch.uint8)]
        filled = value is not None and value.numel() == 1 and not labels.on_gpu(value) and len(indices) == 1
        if value is not None and not filled and not labels.on_gpu(value):
            simulated.copied(labels.of(value), axes=0, entries=value.numel())
        for index in indices:
            if not labels.on_gpu(index):
                simulated.copied(labels.of(index), axes=index.dim(), entries=index.numel())
            elif masks and not filled:  # to fill with one number, torch does not count the mask
                simulated.sync("mask")

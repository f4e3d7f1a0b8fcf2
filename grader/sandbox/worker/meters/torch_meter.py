"""Meter for torch: every operation that a call consists of, counted at the student's line.

Two modes are active. The function mode gives readable names, and keeps torch from taking fast paths that hide
operations. The operation mode does the counting: every call ends there, however it was made.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.protocol.call_names import PREFIX, is_attention, is_ready_made
from grader.sandbox.worker.meters.meter import Meter
from grader.sandbox.worker.meters.torch_names import CALLING_BACK, On
from grader.sandbox.worker.meters.torch_prices import OperationDone, TorchPrice, moved, price_of


@contextlib.contextmanager
def watching(meter: Meter, inputs: tuple[Any, ...]) -> Iterator[None]:
    """Count the torch operations inside a `with` block. The input tensors do not count as the student's memory."""
    calls = TorchCalls(meter)
    for tensor in tensors_in(inputs):
        storage = tensor.untyped_storage()
        meter.known[storage._cdata] = storage
    with FunctionMeter(calls), OperationMeter(calls):
        yield


class TorchCalls:
    """Notes of torch calls, for modules that forbid some: ready-made parts once per line, other calls once."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.torch = False
        self.lines: set[int] = set()

    def note(self, name: str, *, ready: bool) -> None:
        at = self.meter.at
        if ready and at not in self.lines:
            self.lines.add(at)
            self.meter.event(at, f"{PREFIX}{name.strip('_').removesuffix('.default')}")
        elif not ready and not self.torch:
            self.torch = True
            self.meter.event(at, f"{PREFIX}{name.strip('_').removesuffix('.default')}")


class FunctionMeter(TorchFunctionMode):  # type: ignore[misc] # torch gives it no types
    """Notes the name of every torch function that is called."""

    def __init__(self, calls: TorchCalls) -> None:
        super().__init__()
        self.calls = calls

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(getattr(function, "__name__", ""))
        if name != "__get__":  # reading an attribute such as a shape is always allowed
            self.calls.note(name, ready=is_ready(name))
        if name not in CALLING_BACK:
            return function(*args, **(kwargs or {}))
        if name not in ("backward", "grad"):  # a call for each entry
            self.calls.meter.walked(self.calls.meter.at, args[0].numel())
        with On(self, self.calls.meter.files):
            return function(*args, **(kwargs or {}))


@functools.cache
def is_ready(name: str) -> bool:
    """Whether a function or operation is ready-made attention, or a ready-made loss or norm."""
    return is_attention(name) or is_ready_made(name)


@functools.cache
def name_and_price(operation: Any) -> tuple[str, bool, TorchPrice | None]:
    """Return an operation's name, whether it is ready-made, and its price."""
    schema = getattr(operation, "_schema", None)  # a higher-order operation, such as flex_attention, has none
    name = schema.name.partition("::")[2] if schema else str(operation.name())
    return name, is_ready(name), price_of(operation, name)


class OperationMeter(TorchDispatchMode):  # type: ignore[misc]
    """Counts each operation by the sizes of its tensors, and the memory of its results until they are freed."""

    supports_higher_order_operators = True

    def __init__(self, calls: TorchCalls) -> None:
        super().__init__()
        self.calls = calls
        self.meter = calls.meter

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: the check would import a compiler and double the time of each operation."""
        return False

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name, ready, price = name_and_price(operation)
        self.calls.note(name, ready=ready)
        # In inference mode, composite operations arrive here undivided.
        if price is None and hasattr(operation, "_schema") and operation._can_decompose():
            with self:
                return operation.decompose(*args, **kwargs)
        outputs = [one.untyped_storage() for one in tensors_in((kwargs.get("out"),))]
        sizes = [storage.nbytes() for storage in outputs]
        result = operation(*args, **kwargs)
        meter, known = self.meter, self.meter.known
        if sizes != [storage.nbytes() for storage in outputs]:  # `out=` made a tensor larger: memory that is not new
            meter.unpriced(meter.at, f"torch.ops.aten.{name}.out")
        tensors = [result] if isinstance(result, torch.Tensor) else tensors_in((result,))
        fresh = [one for one in tensors if one.untyped_storage()._cdata not in known]
        if not fresh and price is moved and not outputs:  # a view; most operations make one
            return result
        given = tensors_in(args)
        if fresh:  # a view of a parameter or of a student's constant is not new memory
            before = {one.untyped_storage()._cdata for one in (*given, *tensors_in(kwargs.values()))}
            fresh = [one for one in fresh if one.untyped_storage()._cdata not in before]
        try:
            if price is None:
                raise LookupError
            price(OperationDone(meter, meter.at, name, given, tensors if outputs else fresh, result, args))
        except Exception:  # noqa: BLE001 - a call that went well must not fail because we cannot price it
            meter.unpriced(meter.at, f"torch.ops.aten.{name}")
        for tensor in fresh:
            storage = tensor.untyped_storage()
            if storage._cdata not in known:  # two results of one operation can share their memory
                meter.allocated(meter.at, storage._cdata, storage, storage.nbytes())
        return result


def tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    """Return the tensors in arguments or results, including those in lists and tuples."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += tensors_in(value)
    return found

"""Tensors under the meter: every operation of torch that a call comes down to, counted where the student wrote it.

Two modes watch. The one for functions gives readable names, and by being there it keeps torch from taking short cuts
that nobody could see into. The one for operations is the authority: whatever door a call came in by, it ends there.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.protocol.call_names import PREFIX, is_attention
from grader.sandbox.worker.meters.meter import Meter
from grader.sandbox.worker.meters.torch_prices import OperationDone, TorchPrice, moved, price_of


@contextlib.contextmanager
def watching(meter: Meter, inputs: tuple[Any, ...]) -> Iterator[None]:
    """Count what torch does meanwhile; the tensors of the input are not the student's memory."""
    noted = TorchCalls(meter)
    for tensor in tensors_in(inputs):
        storage = tensor.untyped_storage()
        meter.known[storage._cdata] = storage
    with FunctionMeter(noted), OperationMeter(noted):
        yield


class TorchCalls:
    """The uses of torch that the rules of a module may be about: attention ready-made once a line, the rest once."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.torch = False
        self.lines: set[int] = set()

    def note(self, name: str, *, attention: bool) -> None:
        at = self.meter.at
        if attention and at not in self.lines:
            self.lines.add(at)
            self.meter.event(at, f"{PREFIX}{name.strip('_').removesuffix('.default')}")
        elif not attention and not self.torch:
            self.torch = True
            self.meter.event(at, f"{PREFIX}{name.strip('_').removesuffix('.default')}")


class FunctionMeter(TorchFunctionMode):  # type: ignore[misc] # torch gives it no types
    """Notes by its name what may not be called."""

    def __init__(self, noted: TorchCalls) -> None:
        super().__init__()
        self.noted = noted

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(getattr(function, "__name__", ""))
        if name != "__get__":  # to look at a shape is nobody's concern
            self.noted.note(name, attention=is_attention(name))
        return function(*args, **(kwargs or {}))


@functools.cache
def known_as(operation: Any) -> tuple[str, bool, TorchPrice | None]:
    """Return an operation's name, whether it is attention ready-made, and its price."""
    schema = getattr(operation, "_schema", None)  # one of a higher order, such as flex_attention, has none
    name = schema.name.partition("::")[2] if schema else str(operation.name())
    return name, is_attention(name), price_of(operation, name)


class OperationMeter(TorchDispatchMode):  # type: ignore[misc]
    """Counts each operation by the sizes of its tensors, and follows the memory of its results until they are gone."""

    supports_higher_order_operators = True

    def __init__(self, noted: TorchCalls) -> None:
        super().__init__()
        self.noted = noted
        self.meter = noted.meter

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nobody compiles this; the guard against it would import a compiler and double the cost of each operation."""
        return False

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name, attention, price = known_as(operation)
        self.noted.note(name, attention=attention)
        # In inference mode, operations arrive whole.
        if price is None and hasattr(operation, "_schema") and operation._can_decompose():
            with self:
                return operation.decompose(*args, **kwargs)
        result = operation(*args, **kwargs)
        meter, known = self.meter, self.meter.known
        made = [result] if isinstance(result, torch.Tensor) else tensors_in((result,))
        fresh = [one for one in made if one.untyped_storage()._cdata not in known]
        if not fresh and price is moved:  # a view, as most operations are
            return result
        given = tensors_in(args)
        if fresh:  # a view of a parameter, or of a constant of the student's, is of memory that was there before
            before = {one.untyped_storage()._cdata for one in (*given, *tensors_in(kwargs.values()))}
            fresh = [one for one in fresh if one.untyped_storage()._cdata not in before]
        try:
            if price is None:
                raise LookupError
            price(OperationDone(meter, meter.at, name, given, fresh, result))
        except Exception:  # noqa: BLE001 - what we cannot put a price on must not fail a call that went well
            meter.unpriced(meter.at, f"torch.ops.aten.{name}")
        for tensor in fresh:
            storage = tensor.untyped_storage()
            if storage._cdata not in known:  # two results of one operation can share their memory
                meter.allocated(meter.at, storage._cdata, storage, storage.nbytes())
        return result


def tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    """Return the tensors of arguments or results, also those in lists of them."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += tensors_in(value)
    return found

"""The watch over arguments: notes which arguments of a call are different after it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grader.sandbox.protocol.wire import COMMON, MAX_DEPTH

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})  # these cannot change


class ArgumentWatch:
    """Compares arguments before and after calls. The functions it uses are bound before student code is loaded."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int | str], None] = {}
        self._request = 0
        torch = sys.modules.get("torch")
        self._tensors = () if torch is None else (torch.Tensor, torch.nn.Parameter)
        if torch is not None:
            self._strided, self._bytes = torch.strided, torch.uint8
            self._common = frozenset(getattr(torch, name) for name in COMMON)
            self._detach, self._numpy = torch.Tensor.detach, torch.Tensor.numpy

    def begin(self, request: int) -> None:
        """Say which of the requests in one message the next calls belong to."""
        self._request = request

    def over(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Watching:
        """Return a context for one call with these arguments, even for one that raises."""
        given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        return _Watching(self, [(name, arg) for name, arg in given if type(arg) not in _PLAIN])

    def take(self) -> list[list[int | str]]:
        """Return what was found since the last time: the request and the argument, by position or by keyword."""
        found, self._found = self._found, {}
        return [list(one) for one in found]

    def compare(self, given: Sequence[tuple[int | str, Any]], before: Sequence[Any]) -> None:
        """Note the arguments whose content is not the one before."""
        for (name, arg), known in zip(given, before, strict=True):
            try:
                same = self.content(arg) == known
            except Exception:  # noqa: BLE001 - arguments of ours can be read; this one cannot any more
                same = False
            if not same:
                self._found[self._request, name] = None

    def content(self, value: Any, depth: int = 0) -> Any:
        """Return what must be the same after a call. An object of the student's own is only itself."""
        kind = type(value)
        if kind is np.ndarray:
            return value.dtype, value.shape, value.flags.writeable, value.tobytes()
        if kind in self._tensors and value.layout is self._strided:
            return self._tensor(value, depth)
        if kind in _PLAIN:
            return kind, repr(value)  # NaN is not equal to itself, but its text is
        if kind in (list, tuple) and depth <= MAX_DEPTH:
            return kind, [self.content(item, depth + 1) for item in value]
        if kind is dict and depth <= MAX_DEPTH:
            return kind, {key: self.content(item, depth + 1) for key, item in value.items()}
        return _Itself(value)

    def _tensor(self, tensor: Any, depth: int) -> Any:
        plain, dtype = self._detach(tensor), tensor.dtype
        if dtype not in self._common or not plain.is_cpu:
            plain = plain.cpu().contiguous().reshape(-1).view(self._bytes)  # bfloat16 does not exist in NumPy
        leaf = tensor.is_leaf
        grad = tensor.grad if leaf else None
        # In a dict, a tensor may be replaced by its copy on another device, which has the same numbers.
        own = (_Itself(tensor), dtype, tensor.shape, leaf, tensor.requires_grad)
        return own, grad if grad is None else self.content(grad, depth + 1), self._numpy(plain).tobytes()


class _Itself:
    """Stands for an object that is equal to nothing else. It keeps the object, so that no other gets its address."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Itself and other.value is self.value

    __hash__ = None  # type: ignore[assignment]


class _Watching:
    """The time of one call."""

    __slots__ = ("before", "given", "watch")

    def __init__(self, watch: ArgumentWatch, given: Sequence[tuple[int | str, Any]]) -> None:
        self.watch = watch
        self.given = given

    def __enter__(self) -> None:
        self.before = [self.watch.content(arg) for _, arg in self.given]

    def __exit__(self, *_: object) -> None:
        self.watch.compare(self.given, self.before)

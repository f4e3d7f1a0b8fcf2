"""The watch over calls of student code: which arguments they change, and which torch functions they call."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from grader.sandbox.protocol.wire import COMMON, MAX_DEPTH

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})  # these cannot change
IsSame = Callable[[], bool]


class CallWatch:
    """Compares arguments before and after calls. The functions it uses are bound before student code is loaded."""

    def __init__(self) -> None:
        self._changed: dict[tuple[int, int | str], None] = {}
        self._request = 0
        self.names: Any = None  # a mode that names the torch functions that are called
        torch = sys.modules.get("torch")
        self._tensors = () if torch is None else (torch.Tensor, torch.nn.Parameter)
        if torch is not None:
            self._strided, self._bytes = torch.strided, torch.uint8
            self._common = frozenset(getattr(torch, name) for name in COMMON)
            self._detach, self._numpy = torch.Tensor.detach, torch.Tensor.numpy
            self._address, self._read = torch.Tensor.data_ptr, ctypes.string_at

    def name_calls(self, files: Collection[str], given: Collection[str]) -> None:
        """Note from now on which torch functions the student's files call, all but those that the course gave."""
        from grader.sandbox.worker.meters.torch_names import TorchNames

        self.names = TorchNames(files, given)

    def begin(self, request: int) -> None:
        """Say which of the requests in one message the next calls belong to."""
        self._request = request

    def over(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Watching:
        """Return a context for one call with these arguments, even for one that raises."""
        given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        return _Watching(self, [(name, arg) for name, arg in given if type(arg) not in _PLAIN])

    def take(self) -> dict[str, Any]:
        """Return what was found since the last time: changed arguments (request, position or keyword), and names."""
        changed, self._changed = self._changed, {}
        found: dict[str, Any] = {"changed": [list(one) for one in changed]} if changed else {}
        if self.names is not None and self.names.names:
            found["called"] = [*self.names.names]
            self.names.names.clear()
        return found

    def note(self, name: int | str) -> None:
        """Note an argument that a call changed."""
        self._changed[self._request, name] = None

    def before(self, value: Any) -> IsSame:
        """Return a function that tells, after a call, whether an argument is as it is now."""
        if type(value) in self._tensors and value.layout is self._strided and self._is_simple(value):
            return self._before_tensor(value)
        known = self.content(value)
        return lambda: bool(self.content(value) == known)

    def _before_tensor(self, tensor: Any) -> IsSame:
        """Do the same quickly: most arguments are such tensors. Memory that moved is not read again."""
        address, size = self._address(tensor), tensor.nbytes
        known, form, leaf = self._read(address, size), _form(tensor), tensor.is_leaf

        def is_same() -> bool:
            return (
                self._address(tensor) == address
                and _form(tensor) == form
                and self._read(address, size) == known
                and (not leaf or tensor.grad is None)
            )

        return is_same

    @staticmethod
    def _is_simple(tensor: Any) -> bool:
        """Whether all of a tensor is in one piece of memory that can be read, and it has no gradient."""
        return bool(tensor.is_cpu and tensor.is_contiguous() and (not tensor.is_leaf or tensor.grad is None))

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
        if kind in (set, frozenset):  # items of ours cannot change
            return kind, set(value)
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


def _form(tensor: Any) -> tuple[Any, ...]:
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.is_leaf, tensor.requires_grad


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

    def __init__(self, watch: CallWatch, given: Sequence[tuple[int | str, Any]]) -> None:
        self.watch = watch
        self.given = given

    def __enter__(self) -> None:
        self.before = [(name, self.watch.before(arg)) for name, arg in self.given]
        if self.watch.names is not None:
            self.watch.names.__enter__()

    def __exit__(self, *raised: Any) -> None:
        if self.watch.names is not None:
            self.watch.names.__exit__(*raised)
        for name, is_same in self.before:
            try:
                same = is_same()
            except Exception:  # noqa: BLE001 - arguments of ours can be read; this one cannot any more
                same = False
            if not same:
                self.watch.note(name)

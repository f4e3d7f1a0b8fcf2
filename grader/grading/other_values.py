"""Other values of the same form, for a call that students can see.

Arrays and lists of numbers get other numbers of the same shape. In texts, the letters are exchanged, everywhere in a
call in the same way: words stay apart, and a word of a text is still the key of its dict. The numbers of a dict change
places, so that ids stay different. A text that the reference's own code names, such as "utf-8" or the key of a record,
stays.
"""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from grader.core.compare import shape_of
from grader.core.plain_values import in_order
from grader.sandbox.student import Arguments

COUNTED = ("lengths", "ids", "targets", "data")  # arguments that hold any numbers from 0 to a largest one
_CONTAINERS = (list, tuple, dict, set, frozenset)
_TEXTS = (str, bytes)


def with_other_values(function: Callable[..., Any], call: Arguments, rng: np.random.Generator) -> Arguments | None:
    """Return a call with other values of the same form; None if it has only single numbers, options and masks."""
    bound = inspect.signature(function).bind(*call.args, **call.kwargs)
    other: _OtherValues | None = None
    changed = False
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        parts = value if several else (value,)
        if name == "mask" or not any(_is_data(part, parameter) for part in parts):
            continue
        other = other or _OtherValues(function, rng)
        others = tuple(other.argument(name, part) for part in parts)
        changed = changed or any(shape_of(part) is not None for part in parts) or repr(others) != repr(tuple(parts))
        bound.arguments[name] = others if several else others[0]
    return Arguments(bound.args[: len(call.args)], _rest(bound, len(call.args))) if changed else None


def _is_data(value: Any, parameter: inspect.Parameter) -> bool:
    """Whether an argument is data. A single number is not, nor is a text with a default: that is an option."""
    if type(value) in _TEXTS:
        return parameter.default is inspect.Parameter.empty
    return shape_of(value) is not None or type(value) in _CONTAINERS


def _rest(bound: inspect.BoundArguments, count: int) -> dict[str, Any]:
    """Return the arguments after the first ones, by name."""
    names = list(bound.arguments)
    variable = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in bound.signature.parameters.values())
    return {} if variable else {name: bound.arguments[name] for name in names[count:]}


class _OtherValues:
    """The other values of one call."""

    def __init__(self, function: Callable[..., Any], rng: np.random.Generator) -> None:
        self.rng = rng
        self.named = frozenset(_texts_in(function))
        self.letters: dict[int, int] = {}

    def argument(self, name: str, value: Any) -> Any:
        if type(value) is np.ndarray:
            return self.texts_of(value) if value.dtype.kind in "US" else _numbers(name, value, self.rng)
        if type(value) in _TEXTS:
            return self.text(value)
        if type(value) in _CONTAINERS:
            return self.container(name, value)
        return _tensor(name, value, self.rng) if shape_of(value) is not None else value

    def container(self, name: str, value: Any) -> Any:
        kind = type(value)
        if kind is dict:
            return self.entries(name, value)
        items = in_order(value) if kind in (set, frozenset) else list(value)
        if kind in (list, tuple) and (array := _as_numbers(items)) is not None:
            return _in_form_of(value, _numbers(name, array, self.rng).tolist())
        if kind in (set, frozenset) and items and all(type(item) is int for item in items):
            shift = int(self.rng.integers(1, 6))  # they stay different
            return kind(item + shift for item in items)
        return kind(self.argument(name, item) for item in items)

    def entries(self, name: str, value: dict[Any, Any]) -> dict[Any, Any]:
        keys = [self.text(key) if type(key) in _TEXTS else key for key in value]
        items = list(value.values())
        if all(type(item) in (int, float) for item in items):
            items = [items[int(place)] for place in self.rng.permutation(len(items))]
        else:
            items = [self.argument(name, item) for item in items]
        return dict(zip(keys, items, strict=True))

    def text(self, value: Any) -> Any:
        """Return a text with other letters and digits; the lengths, the cases and everything else stay."""
        if value in self.named:
            return value
        if not self.letters:
            self.letters = _exchange(self.rng)
        if isinstance(value, bytes):
            return bytes(self.letters.get(one, one) for one in value)
        return value.translate(self.letters)

    def texts_of(self, array: np.ndarray) -> np.ndarray:
        return np.array([self.text(item) for item in array.ravel().tolist()], array.dtype).reshape(array.shape)


def _exchange(rng: np.random.Generator) -> dict[int, int]:
    """Return what each letter and each digit but 0 becomes; upper case follows lower case."""
    found: dict[int, int] = {}
    for old in (string.ascii_lowercase, string.digits[1:]):
        new = "".join(old[place] for place in rng.permutation(len(old)))
        found |= str.maketrans(old + old.upper(), new + new.upper())
    return found


def _texts_in(function: Callable[..., Any]) -> Iterator[str | bytes]:
    """Yield the texts that the code of a function's module names."""
    function = inspect.unwrap(function)
    names = getattr(getattr(function, "__func__", function), "__globals__", {})
    own = [one for one in names.values() if getattr(one, "__module__", None) == function.__module__]
    for one in own:
        for part in vars(one).values() if isinstance(one, type) else (one,):
            code = getattr(getattr(part, "fget", part), "__code__", None)
            yield from _texts_of(code) if code else ()


def _texts_of(code: CodeType) -> Iterator[str | bytes]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _texts_of(constant)
        for one in constant if isinstance(constant, tuple | frozenset) else (constant,):
            if isinstance(one, str | bytes):
                yield one


def _as_numbers(items: list[Any]) -> np.ndarray | None:
    """Return nested lists of numbers as an array; None if they are anything else."""
    try:
        array = np.asarray(items)
    except ValueError:  # of different lengths
        return None
    return array if array.dtype.kind in "if" and array.size else None


def _in_form_of(value: Any, numbers: Any) -> Any:
    """Return nested lists of numbers with tuples where the value has tuples: a pair may be a key."""
    if type(value) not in (list, tuple):
        return numbers
    return type(value)(_in_form_of(*both) for both in zip(value, numbers, strict=True))


def _tensor(name: str, value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, np.generic):
        return value
    import torch

    kind = "f8" if value.is_floating_point() else "?" if value.dtype == torch.bool else "i8"
    like = value.numpy().astype(kind) if kind == "i8" else np.zeros(tuple(value.shape), kind)
    return torch.from_numpy(_numbers(name, like, rng)).to(value.dtype)


def _numbers(name: str, like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ordinary numbers for an argument: what is right for them does not depend on the style of the code."""
    numbers: np.ndarray = rng.normal(size=like.shape) if like.dtype.kind == "f" else rng.integers(-4, 5, like.shape)
    if name in COUNTED:
        numbers = rng.integers(0, like.max(initial=0) + 1, like.shape)
    elif name == "positions":  # never negative, with repeats and gaps
        numbers = rng.integers(0, 2 * like.max(initial=0) + 3, like.shape)
    elif name == "masks" or like.dtype.kind == "b":
        numbers = rng.integers(0, 2, like.shape)
    elif name == "weights":
        positive = rng.uniform(0.1, 1.0, like.shape)
        numbers = positive / positive.sum(axis=-1, keepdims=True)
    return numbers.astype(like.dtype)

"""Values of any kind: how they are shown in a message, and what is compared of them.

A message is short whatever the values are, and always the same: dicts and sets are shown in the order of their keys.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

SHORT = 60  # characters of a value in a message
_KINDS = {str: "text", bytes: "bytes", int: "an integer", bool: "a boolean", float: "a float", type(None): "None"}


def short(value: Any, limit: int = SHORT) -> str:
    """Return a value as Python would write it, cut to a limit. A value of any size costs no more than the limit."""
    text = ""
    for piece in _pieces(value, limit):
        text += piece
        if len(text) > limit:
            return f"{text[: limit - 1]}…"
    return text


def _pieces(value: Any, limit: int) -> Iterator[str]:
    kind = type(value)
    if kind in (str, bytes):
        yield repr(value if len(value) <= limit else value[: limit + 1])
    elif kind is int and value.bit_length() > 4 * limit:
        yield f"an integer of {value.bit_length()} bits"
    elif kind in (list, tuple):
        left, right = ("[", "]") if kind is list else ("(", ",)" if len(value) == 1 else ")")
        yield from _listed(left, value, right, limit)
    elif kind is dict:
        yield "{"
        for number, key in enumerate(in_order(value)):
            yield ", " if number else ""
            yield from _pieces(key, limit)
            yield ": "
            yield from _pieces(value[key], limit)
        yield "}"
    elif kind in (set, frozenset):
        name = "" if kind is set and value else f"{kind.__name__}("
        inside = ("{", "}") if value else ("", "")
        yield from _listed(name + inside[0], in_order(value), inside[1] + (")" if name else ""), limit)
    elif kind is np.ndarray or is_tensor(value):
        yield f"<{'array' if kind is np.ndarray else 'tensor'} of shape {tuple(value.shape)}>"
    else:
        yield repr(value)


def _listed(left: str, items: Iterable[Any], right: str, limit: int) -> Iterator[str]:
    yield left
    for number, item in enumerate(items):
        yield ", " if number else ""
        yield from _pieces(item, limit)
    yield right


def in_order(keys: Iterable[Any]) -> list[Any]:
    """Return keys in an order that depends only on them: numbers, then text, then all others as they are written."""
    return sorted(keys, key=_place)


def _place(key: Any) -> tuple[int, Any, str]:
    if type(key) in (bool, int, float):
        return 0, key, ""
    return (1, 0, key) if type(key) is str else (2, 0, short(key, 200))


def is_tensor(value: Any) -> bool:
    """Whether this is a plain tensor. Torch is not imported for it."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor


def kind_of(value: Any) -> str:
    """Return the type of a value in words."""
    return "an object" if isinstance(value, FarObject) else _KINDS.get(type(value), f"a {type(value).__name__}")


def counted(number: int, word: str) -> str:
    """Return a number of things in words."""
    return f"{number} {word}{'' if number == 1 else 's'}"


class FarObject:
    """An object that stays in the worker. Its attributes are fetched when they are read."""

    __slots__ = ()


def plain(value: Any) -> Any:
    """Return a value as it is sent: a namedtuple as a tuple, a Counter as a dict, a string of NumPy as a string."""
    kind = type(value)
    if kind.__module__ == "builtins" or isinstance(value, np.bool_ | np.number):
        return value
    bases = (str, bytes, tuple, dict, frozenset, set, int, float)
    base = next((one for one in bases if issubclass(kind, one)), None)
    return base(value) if base else value


def is_text_array(value: Any) -> bool:
    """Whether this is an array of strings or bytes."""
    return type(value) is np.ndarray and value.dtype.kind in "US"


def is_object(value: Any) -> bool:
    """Whether an expected value is an object of the course's own class, which is compared by its attributes."""
    kind = type(value)
    ours = (np.ndarray, np.generic)
    return not (kind.__module__ == "builtins" or isinstance(value, ours) or is_tensor(value)) and bool(
        attributes_of(value)
    )


def attributes_of(value: Any) -> list[str]:
    """Return the names of an object's public attributes."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
        names = [*getattr(value, "__dict__", ()), *(name for some in slots for name in _as_names(some))]
    return [name for name in dict.fromkeys(names) if not name.startswith("_") and hasattr(value, name)]


def _as_names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def describe(value: Any) -> str:
    """Describe any value that came over the wire in a few words."""
    if type(value) is np.ndarray:
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if is_tensor(value):
        return f"a tensor of shape {tuple(value.shape)} and dtype {str(value.dtype).removeprefix('torch.')}"
    if type(value) in (tuple, list, set, frozenset):
        return f"a {type(value).__name__} of length {len(value)}{_content(value)}"
    if type(value) is dict:
        return f"a dict with {counted(len(value), 'key')}{_content(value)}"
    if isinstance(value, np.generic) and not isinstance(value, np.number | np.bool_):
        return f"a NumPy scalar of dtype {value.dtype}"
    if type(value) in (str, bytes) and len(value) > SHORT:
        return f"{short(value)} ({len(value)} {'characters' if type(value) is str else 'bytes'})"
    if isinstance(value, FarObject):
        return repr(value)
    return f"an object {type(value).__name__}" if is_object(value) else short(value)


def _content(value: Any) -> str:
    return f": {short(value)}" if value else ""

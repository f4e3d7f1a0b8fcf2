"""Where two texts, two dicts or two sets first differ."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from grader.core.plain_values import in_order, kind_of, short

_BEFORE, _AFTER = 6, 12  # characters of a text around the first that differs
_NAMES = 3  # keys or items that a message names
_MOST_PAIRS = 10_000  # comparisons of items of two sets that are not equal, but may be close


def text_difference(actual: str | bytes, expected: str | bytes) -> str:
    """Return where two different texts, or two different bytes, first differ."""
    pairs = enumerate(zip(actual, expected, strict=False))
    at = next((place for place, (one, other) in pairs if one != other), min(len(actual), len(expected)))
    got, want = _around(actual, at), _around(expected, at)
    what = f"got {got}, expected {want}{_code_points(actual, expected, at)}"
    if len(actual) == at:
        return f"ends at position {at}{_line(expected, at)}, {len(expected) - at} too early: {what}"
    if len(expected) == at:
        return f"goes on at position {at}{_line(expected, at)}, {len(actual) - at} too long: {what}"
    return f"differs at position {at}{_line(expected, at)}: {what}"


def _around(text: str | bytes, at: int) -> str:
    """Return the text around a position; all of it if it is short."""
    if len(text) <= _BEFORE + 2 * _AFTER:
        return repr(text)
    start, end = max(0, at - _BEFORE), at + _AFTER
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"


def _line(expected: str | bytes, at: int) -> str:
    """Return the line and column of a position, counted from 1, in a text of several lines."""
    if isinstance(expected, bytes) or "\n" not in expected[:at]:
        return ""
    return f" (line {expected.count(chr(10), 0, at) + 1}, column {at - expected.rfind(chr(10), 0, at)})"


def _code_points(actual: str | bytes, expected: str | bytes, at: int) -> str:
    """Return the numbers of two characters that may look the same."""
    if isinstance(actual, bytes) or isinstance(expected, bytes) or at >= min(len(actual), len(expected)):
        return ""
    one, other = actual[at], expected[at]
    return "" if one.isascii() and other.isascii() else f" (U+{ord(one):04X} instead of U+{ord(other):04X})"


def keys_difference(actual: dict[Any, Any], expected: dict[Any, Any]) -> str | None:
    """Return which keys of a dict are missing, and which it should not have."""
    missing, extra = in_order(expected.keys() - actual.keys()), in_order(actual.keys() - expected.keys())
    found = [f"{_kinds('key', missing)} {_named(missing)} missing"] if missing else []
    found += [f"{_kinds('key', extra)} {_named(extra)} not expected"] if extra else []
    return "; ".join(found) + _other_type(missing, extra) if found else None


def items_difference(missing: Collection[Any], extra: Collection[Any]) -> str:
    """Return which items of a set are missing, and which it should not have."""
    found = [f"{_named(in_order(missing))} missing"] if missing else []
    found += [f"{_named(in_order(extra))} not expected"] if extra else []
    return "; ".join(found) + _other_type(in_order(missing), in_order(extra))


def unmatched(
    actual: Collection[Any], expected: Collection[Any], is_same: Callable[[Any, Any], bool]
) -> tuple[list[Any], list[Any]]:
    """Return the items that only the first of two sets has, and those that only the second has.

    Numbers that differ by rounding are the same item.
    """
    extra = in_order(item for item in actual if item not in expected)
    missing = in_order(item for item in expected if item not in actual)
    if len(extra) * len(missing) > _MOST_PAIRS or not any(map(_has_float, missing)):
        return extra, missing
    for item in [*missing]:
        if (place := next((at for at, other in enumerate(extra) if is_same(other, item)), None)) is not None:
            del extra[place]
            missing.remove(item)
    return extra, missing


def _has_float(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return any(map(_has_float, value))
    return type(value) in (float, complex) or isinstance(value, np.inexact)


def _kinds(word: str, keys: list[Any]) -> str:
    return f"the {word}{'s' if len(keys) > 1 else ''}"


def _named(keys: list[Any]) -> str:
    """Return the first few keys, with the verb that follows."""
    names = [short(key, 40) for key in keys[:_NAMES]]
    names += [f"{len(keys) - _NAMES} more"] if len(keys) > _NAMES else []
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def _other_type(missing: list[Any], extra: list[Any]) -> str:
    """Say that a key is there, but as another type: the text '1' in place of the number 1."""
    for one, other in itertools.product(missing[:20], extra[:20]):
        if type(one) is not type(other) and _plain(one) == _plain(other):
            return f" ({short(other, 40)} is {kind_of(other)}, not {kind_of(one)})"
    return ""


def _plain(key: Any) -> str:
    if type(key) is bytes:
        return key.decode("utf-8", "replace")
    return key if type(key) is str else short(key)

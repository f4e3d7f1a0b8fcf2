"""The comparison of a student's value with the expected one.

It reports the first difference, and where it is: `result['a'][2]`. Of arrays and numbers it compares, in this order:
type, shape, NaN pattern, inf pattern, tolerance. It does not compare dtypes (separate checks do that). The tolerance
follows the dtype of the *expected* value, which the student cannot choose. The student's value came over the wire and
can be anything, so no method is called on it before its exact type is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.core.compare_numbers import (
    BFLOAT16,
    EXACT,
    TOLERANCES,
    Tolerance,
    as_float64,
    complex_difference,
    number_difference,
    shape_difference,
    shape_of,
    tolerance_of,
)
from grader.core.errors import StudentMissingError
from grader.core.plain_values import (
    FarObject,
    attributes_of,
    counted,
    describe,
    is_object,
    is_text_array,
    kind_of,
    plain,
    short,
)
from grader.core.text_difference import items_difference, keys_difference, text_difference, unmatched

__all__ = [
    "BFLOAT16",
    "EXACT",
    "TOLERANCES",
    "Tolerance",
    "as_float64",
    "describe",
    "difference",
    "shape_of",
    "tolerance_of",
]


def difference(actual: Any, expected: Any, tolerance: Tolerance | None = None, *, name: str = "result") -> str | None:
    """Return the first difference in words, or None if there is none. `name` stands before a place inside the value."""
    found = _Comparison(tolerance).of(actual, expected, name)
    if found is None:
        return None
    return found.what if found.place == name else f"{found.place}: {found.what}"


@dataclass(frozen=True)
class _Difference:
    """A difference, and where it is."""

    place: str
    what: str


class _Comparison:
    """One comparison. It remembers the objects that it has seen: they may contain each other."""

    def __init__(self, tolerance: Tolerance | None) -> None:
        self.tolerance = tolerance
        self.seen: set[int] = set()

    def of(self, actual: Any, expected: Any, place: str) -> _Difference | None:
        actual, expected = plain(actual), plain(expected)
        kind = type(expected)
        if kind in (tuple, list):
            return self.of_items(actual, expected, place)
        if kind is dict:
            return self.of_entries(actual, expected, place)
        if is_object(expected):
            return self.ofattributes_of(actual, expected, place)
        if kind in (set, frozenset):
            what = self.of_sets(actual, expected)
        elif kind is np.ndarray and expected.dtype.kind in "US" and is_text_array(actual):
            if actual.shape == expected.shape:
                return self.of(actual.tolist(), expected.tolist(), place)
            what = shape_difference(actual.shape, expected.shape)
        else:
            what = _leaf_difference(actual, expected, self.tolerance)
        return _Difference(place, what) if what else None

    def of_items(self, actual: Any, expected: Any, place: str) -> _Difference | None:
        if type(actual) is not type(expected):
            return _Difference(place, _wrong_type(actual, expected))
        length = f"{counted(len(actual), 'item')} instead of {len(expected)}; "
        for index, (got, want) in enumerate(zip(actual, expected, strict=False)):
            if found := self.of(got, want, f"{place}[{index}]"):
                if len(actual) == len(expected):
                    return found
                return _Difference(place, f"{length}the first that differs is {found.place}: {found.what}")
        if len(actual) < len(expected):
            index = len(actual)
            return _Difference(place, f"{length}{place}[{index}] is missing: expected {short(expected[index])}")
        if len(actual) > len(expected):
            index = len(expected)
            return _Difference(place, f"{length}{place}[{index}] is not expected: {short(actual[index])}")
        return None

    def of_entries(self, actual: Any, expected: dict[Any, Any], place: str) -> _Difference | None:
        if type(actual) is not dict:
            return _Difference(place, _wrong_type(actual, expected))
        if what := keys_difference(actual, expected):
            return _Difference(place, what)
        for key, value in expected.items():
            if found := self.of(actual[key], value, f"{place}[{short(key)}]"):
                return found
        return None

    def of_sets(self, actual: Any, expected: Any) -> str | None:
        if type(actual) not in (set, frozenset):  # in Python, a set and a frozenset with the same items are equal
            return _wrong_type(actual, expected)
        extra, missing = unmatched(actual, expected, lambda one, other: self.of(one, other, "") is None)
        return items_difference(missing, extra) if extra or missing else None

    def ofattributes_of(self, actual: Any, expected: Any, place: str) -> _Difference | None:
        if not isinstance(actual, FarObject):
            return _Difference(place, _wrong_type(actual, expected))
        if id(expected) in self.seen:
            return None
        self.seen.add(id(expected))
        for name in attributes_of(expected):
            try:
                value = getattr(actual, name)
            except StudentMissingError:
                return _Difference(place, f"there is no attribute {name}")
            if found := self.of(value, getattr(expected, name), f"{place}.{name}"):
                return found
        return None


def _leaf_difference(actual: Any, expected: Any, tolerance: Tolerance | None) -> str | None:
    kind = type(expected)
    # float64 would lose the last digits of integers above 2**53, so two integers are compared directly.
    both_integers = kind is int and type(actual) is int
    if kind in (bool, np.bool_) and type(actual) in (bool, np.bool_):
        return None if bool(actual) == bool(expected) else f"expected {bool(expected)}, got {bool(actual)}"
    if kind in (str, bytes) and type(actual) is kind:
        return None if actual == expected else text_difference(actual, expected)
    if expected is None or both_integers or kind in (bool, str, bytes):
        same = type(actual) is kind and actual == expected
        return None if same else f"expected {describe(expected)}, got {describe(actual)}"
    if kind is complex:
        return complex_difference(actual, expected, tolerance)
    return number_difference(actual, expected, tolerance)


def _wrong_type(actual: Any, expected: Any) -> str:
    return f"{kind_of(actual)} instead of {kind_of(expected)}: got {describe(actual)}, expected {describe(expected)}"

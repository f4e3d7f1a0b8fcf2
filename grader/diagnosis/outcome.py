"""The outcome of a probe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from grader.core.compare import TOLERANCES, Tolerance, as_float64, difference, shape_of, tolerance_of
from grader.core.compare_numbers import complex_difference
from grader.core.plain_values import plain
from grader.core.text_difference import unmatched
from grader.diagnosis.raised import Raised

Ended = Literal["returned", "refused", "raised", "overflowed", "unwritten", "missing"]
MOST_ENTRIES = 10_000  # the most entries of a result that are kept
# Rounding errors are far below this. The smallest mistake that has a name, 1e-9 added to a sum, is far above.
_PLAIN = (bool, str, bytes)
_STRICT = Tolerance(1e-10, 1e-13)
_SINGLE = Tolerance(5e-5, 5e-6)  # of float32: known outcomes may come from another machine, through several layers
_NEAR = Tolerance(1e-5, 1e-6)
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d{1,20}(?:\.\d{1,20})?")


class Likeness(IntEnum):
    """How similar two values are. NEAR is off by more than rounding, but hardly; OTHER differs in type or shape."""

    SAME = 0
    NEAR = 1
    FAR = 2
    OTHER = 3


@dataclass(frozen=True)
class Unreadable:
    """Stands for a value that cannot be kept or compared."""

    kind: str = ""

    def __repr__(self) -> str:
        return f"<{self.kind.rpartition('.')[2] or 'object'}>"


@dataclass(frozen=True, eq=False)
class ProbeOutcome:
    """How a call ended, what it returned, and the arguments that it changed."""

    ended: Ended
    value: Any = None
    numbers: tuple[float | str, ...] = ()  # the numbers and texts that a refusal names, of those that it should name
    changed: Mapping[str, Any] = field(default_factory=dict)
    cause: str = ""  # of an exception; the reference's may have any
    raised: Raised | None = None  # the exception itself; not kept in the golden file, like those below
    raw: Any = None  # the result before the probe's `look`
    in_step: bool = False  # whether a step before the call of a script raised


class Side(IntEnum):
    """The sides of a call, the most important first."""

    VALUE = 0
    REFUSAL = 1
    INPUTS = 2
    DTYPE = 3


ChangedArguments = Literal["these", "none", "others"]


@dataclass(frozen=True)
class Alike:
    """How an outcome agrees with a known outcome of the same probe."""

    value: Likeness
    refusal: bool
    inputs: bool
    dtype: bool
    # The arguments that were changed: only those that the known outcome changes, to any value; none; or others.
    touched: ChangedArguments = "none"

    @cached_property
    def wrong(self) -> frozenset[Side]:
        """The sides on which they differ."""
        same = (self.value == Likeness.SAME, self.refusal, self.inputs, self.dtype)
        return frozenset(side for side, good in zip(Side, same, strict=True) if not good)


def compare(found: ProbeOutcome, known: ProbeOutcome, *, refusing: bool, any_dtype: bool) -> Alike:
    """Compare two outcomes of a probe. `refusing` says that the reference refuses these arguments."""
    inputs = found.changed.keys() == known.changed.keys() and all(
        likeness(found.changed[name], value) == Likeness.SAME for name, value in known.changed.items()
    )
    touched: ChangedArguments = (
        "others" if found.changed.keys() - known.changed.keys() else "these" if found.changed else "none"
    )
    if found.ended == "overflowed" and known.ended == "returned" and _overflows(known.value):
        value, dtype = Likeness.SAME, True  # plain Python raises where NumPy continues with NaN
    elif found.ended != known.ended or (
        not same_cause(found, known) and not (refusing and found.ended == "refused")  # every refusal has its own words
    ):
        value, dtype = Likeness.OTHER, True
    elif found.ended == "returned":
        value, dtype = likeness(found.value, known.value), any_dtype or same_dtype(found.value, known.value)
        if value == Likeness.FAR and not dtype and not _both_floats(found.value, known.value):
            value = Likeness.OTHER  # numbers cut to integers are different numbers
    else:
        value, dtype = Likeness.SAME, True
    if not refusing:
        return Alike(value, refusal=True, inputs=inputs, dtype=dtype, touched=touched)
    refusal = value <= Likeness.NEAR and found.numbers == known.numbers
    return Alike(Likeness.SAME, refusal=refusal, inputs=inputs, dtype=True, touched=touched)


def same_cause(found: ProbeOutcome, known: ProbeOutcome) -> bool:
    """Whether two exceptions have the same cause. What the reference raises may have any cause."""
    return not known.cause or found.cause == known.cause


def likeness(found: Any, known: Any) -> Likeness:
    """Compare two values. The dtype of the second, which is the known one, sets the tolerance."""
    if type(known) in (tuple, list):
        if type(found) is not type(known) or len(found) != len(known):
            return Likeness.OTHER
        return max((likeness(a, b) for a, b in zip(found, known, strict=True)), default=Likeness.SAME)
    if type(known) is dict:
        if type(found) is not dict or found.keys() != known.keys():
            return Likeness.OTHER
        return max((likeness(found[key], value) for key, value in known.items()), default=Likeness.SAME)
    if type(known) in (set, frozenset):
        if type(found) not in (set, frozenset):
            return Likeness.OTHER
        return Likeness.FAR if any(unmatched(found, known, is_same)) else Likeness.SAME
    if known is None or type(known) in _PLAIN:
        found = plain(bool(found) if isinstance(found, np.bool_) else found)
        return Likeness.SAME if type(found) is type(known) and found == known else Likeness.FAR
    if type(found) is int and type(known) is int:  # float64 would lose the last digits of a large one
        return Likeness.SAME if found == known else Likeness.FAR
    if type(known) is complex:
        return Likeness.SAME if complex_difference(found, known, _STRICT) is None else Likeness.FAR
    return _numbers(found, known)


def is_same(found: Any, known: Any) -> bool:
    """Whether `likeness` is SAME, found out at the first part that differs."""
    if type(known) in (tuple, list):
        same = type(found) is type(known) and len(found) == len(known)
        return same and all(map(is_same, found, known))
    if type(known) is dict:
        same = type(found) is dict and found.keys() == known.keys()
        return same and all(is_same(found[key], value) for key, value in known.items())
    if known is None or type(known) in (*_PLAIN, set, frozenset, int, complex):
        return likeness(found, known) == Likeness.SAME
    pair = _comparable(found, known)
    if pair is None:
        return False
    mine, other = pair
    equal = mine == other
    if equal.all():
        return True
    tolerance = _tolerance(known)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(mine - other) <= tolerance.absolute + tolerance.relative * np.abs(other)
        return bool((equal | (np.isnan(mine) & np.isnan(other)) | (close & np.isfinite(other))).all())


def _comparable(found: Any, known: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return two values as float64; None if they are not numbers, or of different types or shapes."""
    shape = shape_of(known) or ()
    array = type(found) is type(known) if shape else _is_number(found)
    if not array or (shape_of(found) or ()) != shape:
        return None
    mine, other = _doubles(found), _doubles(known)
    return None if mine is None or other is None else (mine, other)


def _numbers(found: Any, known: Any) -> Likeness:
    pair = _comparable(found, known)
    if pair is None:
        return Likeness.OTHER
    mine, other = pair
    if (mine == other).all():
        return Likeness.SAME
    with np.errstate(invalid="ignore", over="ignore"):
        gap, size = np.abs(mine - other), np.abs(other)
        if not np.isfinite(gap).all():
            off = ~((mine == other) | (np.isnan(mine) & np.isnan(other)))
            guarded = off & np.isnan(other) & (mine == 0)  # code that guards against 0/0 returns 0 there
            if guarded.any() and not (off & ~guarded).any():
                return Likeness.NEAR
            gap, size = gap[off], size[off]
            if not np.isfinite(size).all():
                return Likeness.FAR
    for level, tolerance in ((Likeness.SAME, _tolerance(known)), (Likeness.NEAR, _NEAR)):
        if (gap <= tolerance.absolute + tolerance.relative * size).all():
            return level
    return Likeness.FAR


def _doubles(value: Any) -> np.ndarray | None:
    return value if type(value) is np.ndarray and value.dtype == np.float64 else as_float64(value)


def _tolerance(known: Any) -> Tolerance:
    """Return the tolerance of the dtype: stricter for float64, to detect 1e-9 added to a sum, and wider for float32."""
    own = tolerance_of(known)
    if own == TOLERANCES[4]:
        return _SINGLE
    return own if own.relative > TOLERANCES[8].relative else _STRICT


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or isinstance(value, np.number) or (shape_of(value) == ())


def _overflows(value: Any) -> bool:
    if type(value) is tuple:
        return any(map(_overflows, value))
    array = as_float64(value)
    return array is not None and not np.isfinite(array).all()


def same_dtype(found: Any, known: Any) -> bool:
    """Whether two values of the same type have the same dtypes. A plain number matches any dtype."""
    if type(known) in (tuple, list) and type(found) is type(known):
        return all(same_dtype(a, b) for a, b in zip(found, known, strict=False))
    mine, other = getattr(found, "dtype", None), getattr(known, "dtype", None)
    return mine is None or other is None or mine == other


def _both_floats(found: Any, known: Any) -> bool:
    return all(str(getattr(value, "dtype", "float64")) in ("float32", "float64") for value in (found, known))


def numbers_in(message: str) -> set[float]:
    """Return the numbers that a message names."""
    return {float(text) for text in _NUMBER.findall(message)}


def plain_difference(found: Any, known: Any) -> str:
    """Return the first difference between a student's value and the expected one in words."""
    try:
        return difference(found, known) or ""
    except TypeError:  # the values are not numbers
        return ""

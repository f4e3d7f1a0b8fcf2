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
from grader.diagnosis.likely_line import Line

Ended = Literal["returned", "refused", "raised", "overflowed", "unwritten", "missing"]
LARGEST = 10_000  # the most entries of a result that are kept
# Rounding errors are far below this. The smallest mistake that has a name, 1e-9 added to a sum, is far above.
_STRICT = Tolerance(1e-10, 1e-13)
_NEAR = Tolerance(1e-5, 1e-6)
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d{1,20}(?:\.\d{1,20})?")


class Likeness(IntEnum):
    """How similar two values are. NEAR is off by more than rounding, but not visibly; OTHER differs in type or shape."""

    SAME = 0
    NEAR = 1
    FAR = 2
    OTHER = 3


class Unreadable:
    """Stands for a value that cannot be kept or compared."""


@dataclass(frozen=True, eq=False)
class ProbeOutcome:
    """How a call ended, what it returned, and the arguments that it changed."""

    ended: Ended
    value: Any = None
    numbers: tuple[float, ...] = ()  # the numbers that a refusal names, of those that it should name
    changed: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""  # the exception; not kept in the golden file, like the two below
    place: Line | None = None
    raw: Any = None  # the result before the probe's `look`


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


def compare(ours: ProbeOutcome, theirs: ProbeOutcome, *, refusing: bool, any_dtype: bool) -> Alike:
    """Compare two outcomes of a probe. `refusing` says that the reference refuses these arguments."""
    inputs = ours.changed.keys() == theirs.changed.keys() and all(
        likeness(ours.changed[name], value) == Likeness.SAME for name, value in theirs.changed.items()
    )
    touched: ChangedArguments = (
        "others" if ours.changed.keys() - theirs.changed.keys() else "these" if ours.changed else "none"
    )
    if ours.ended == "overflowed" and theirs.ended == "returned" and _overflows(theirs.value):
        value, dtype = Likeness.SAME, True  # plain Python raises where NumPy continues with NaN
    elif ours.ended != theirs.ended:
        value, dtype = Likeness.OTHER, True
    elif ours.ended == "returned":
        value, dtype = likeness(ours.value, theirs.value), any_dtype or same_dtype(ours.value, theirs.value)
        if value == Likeness.FAR and not dtype and not _both_floats(ours.value, theirs.value):
            value = Likeness.OTHER  # numbers cut to integers are different numbers
    else:
        value, dtype = Likeness.SAME, True
    if not refusing:
        return Alike(value, refusal=True, inputs=inputs, dtype=dtype, touched=touched)
    refusal = value <= Likeness.NEAR and ours.numbers == theirs.numbers
    return Alike(Likeness.SAME, refusal=refusal, inputs=inputs, dtype=True, touched=touched)


def likeness(ours: Any, theirs: Any) -> Likeness:
    """Compare two values. The dtype of the second, which is the known one, sets the tolerance."""
    if type(theirs) in (tuple, list):
        if type(ours) is not type(theirs) or len(ours) != len(theirs):
            return Likeness.OTHER
        return max((likeness(a, b) for a, b in zip(ours, theirs, strict=True)), default=Likeness.SAME)
    if type(theirs) is dict:
        if type(ours) is not dict or ours.keys() != theirs.keys():
            return Likeness.OTHER
        return max((likeness(ours[key], value) for key, value in theirs.items()), default=Likeness.SAME)
    if theirs is None or type(theirs) in (bool, str):
        if isinstance(ours, np.bool_):
            ours = bool(ours)
        return Likeness.SAME if type(ours) is type(theirs) and ours == theirs else Likeness.FAR
    return _numbers(ours, theirs)


def _numbers(ours: Any, theirs: Any) -> Likeness:
    shape = shape_of(theirs) or ()
    array = type(ours) is type(theirs) if shape else _is_number(ours)
    if not array or (shape_of(ours) or ()) != shape:
        return Likeness.OTHER
    mine, other = _doubles(ours), _doubles(theirs)
    if mine is None or other is None:
        return Likeness.OTHER
    if (mine == other).all():
        return Likeness.SAME
    with np.errstate(invalid="ignore", over="ignore"):
        off = ~((mine == other) | (np.isnan(mine) & np.isnan(other)))
        guarded = off & np.isnan(other) & (mine == 0)  # code that guards against 0/0 returns 0 there
        if guarded.any() and not (off & ~guarded).any():
            return Likeness.NEAR
        gap, size = np.abs(mine[off] - other[off]), np.abs(other[off])
    for level, tolerance in ((Likeness.SAME, _tolerance(theirs)), (Likeness.NEAR, _NEAR)):
        if (gap <= tolerance.absolute + tolerance.relative * size).all() and np.isfinite(size).all():
            return level
    return Likeness.FAR


def _doubles(value: Any) -> np.ndarray | None:
    return value if type(value) is np.ndarray and value.dtype == np.float64 else as_float64(value)


def _tolerance(theirs: Any) -> Tolerance:
    """Return the tolerance of the dtype; for float64 a stricter one, which detects 1e-9 added to a sum."""
    own = tolerance_of(theirs)
    return own if own.relative > TOLERANCES[8].relative else _STRICT


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or isinstance(value, np.number) or (shape_of(value) == ())


def _overflows(value: Any) -> bool:
    if type(value) is tuple:
        return any(map(_overflows, value))
    array = as_float64(value)
    return array is not None and not np.isfinite(array).all()


def same_dtype(ours: Any, theirs: Any) -> bool:
    """Whether two values of the same type have the same dtypes. A plain number matches any dtype."""
    if type(theirs) in (tuple, list) and type(ours) is type(theirs):
        return all(same_dtype(a, b) for a, b in zip(ours, theirs, strict=False))
    mine, other = getattr(ours, "dtype", None), getattr(theirs, "dtype", None)
    return mine is None or other is None or mine == other


def _both_floats(ours: Any, theirs: Any) -> bool:
    return all(str(getattr(value, "dtype", "float64")) in ("float32", "float64") for value in (ours, theirs))


def numbers_in(message: str) -> set[float]:
    """Return the numbers that a message names."""
    return {float(text) for text in _NUMBER.findall(message)}


def plain_difference(ours: Any, theirs: Any) -> str:
    """Return the first difference between a student's value and the expected one in words."""
    try:
        return difference(ours, theirs) or ""
    except TypeError:  # the values are not numbers
        return ""

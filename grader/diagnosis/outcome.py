"""Outcomes: what came of one probe, as it is kept in a golden file, and how alike two of them are."""

from __future__ import annotations

import math
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
DIGITS, SHORT = 12, 9  # of a float64, and of what has no more: a float32 is known by nine
LARGEST = 10_000  # entries of a result that are still looked at
# Rounding is well below, and the smallest mistake worth a name, 1e-9 beside a sum, well above.
_STRICT = Tolerance(1e-10, 1e-13)
_NEAR = Tolerance(1e-5, 1e-6)
_PLAIN = "python"
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d{1,20}(?:\.\d{1,20})?")


class Likeness(IntEnum):
    """How alike two values are: near is off by more than rounding, but hardly to be seen; other is of another make."""

    SAME = 0
    NEAR = 1
    FAR = 2
    OTHER = 3


@dataclass(frozen=True, eq=False)
class ProbeOutcome:
    """How a call ended, what it returned, and the arguments that were not the same afterwards."""

    ended: Ended
    value: Any = None
    numbers: tuple[float, ...] = ()  # of those that a refusal should name, the ones that it does
    changed: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""  # what it raised, and where: not kept
    place: Line | None = None
    raw: Any = None  # what it returned before anybody looked at it: not kept


class Side(IntEnum):
    """The sides of a call, the most telling first."""

    VALUE = 0
    REFUSAL = 1
    INPUTS = 2
    DTYPE = 3


ChangedArguments = Literal["these", "none", "others"]


@dataclass(frozen=True)
class Alike:
    """In what two outcomes of a probe agree."""

    value: Likeness
    refusal: bool
    inputs: bool
    dtype: bool
    touched: ChangedArguments = (
        "none"  # of the arguments that the known outcome changes: these, to whatever; none; or others
    )

    @cached_property
    def wrong(self) -> frozenset[Side]:
        """The sides on which they differ."""
        same = (self.value == Likeness.SAME, self.refusal, self.inputs, self.dtype)
        return frozenset(side for side, good in zip(Side, same, strict=True) if not good)


def compare(ours: ProbeOutcome, theirs: ProbeOutcome, *, refusing: bool, any_dtype: bool) -> Alike:
    """Compare two outcomes of a probe; `refusing` says that the reference refuses these arguments."""
    inputs = ours.changed.keys() == theirs.changed.keys() and all(
        likeness(ours.changed[name], value) == Likeness.SAME for name, value in theirs.changed.items()
    )
    touched: ChangedArguments = (
        "others" if ours.changed.keys() - theirs.changed.keys() else "these" if ours.changed else "none"
    )
    if ours.ended == "overflowed" and theirs.ended == "returned" and _overflows(theirs.value):
        value, dtype = Likeness.SAME, True  # plain Python raises where NumPy goes on with NaN
    elif ours.ended != theirs.ended:
        value, dtype = Likeness.OTHER, True
    elif ours.ended == "returned":
        value, dtype = likeness(ours.value, theirs.value), any_dtype or same_dtype(ours.value, theirs.value)
        if value == Likeness.FAR and not dtype and not _both_floats(ours.value, theirs.value):
            value = Likeness.OTHER  # numbers cut to integers are other numbers
    else:
        value, dtype = Likeness.SAME, True
    if not refusing:
        return Alike(value, refusal=True, inputs=inputs, dtype=dtype, touched=touched)
    refusal = value <= Likeness.NEAR and ours.numbers == theirs.numbers
    return Alike(Likeness.SAME, refusal=refusal, inputs=inputs, dtype=True, touched=touched)


def likeness(ours: Any, theirs: Any) -> Likeness:
    """Compare two values; the second is one of ours, and its dtype says how closely."""
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
        guarded = off & np.isnan(other) & (mine == 0)  # 0/0 comes out as 0 where somebody took care of it
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
    """Return the dtype's own tolerance, but for float64 one that is closer: it tells a 1e-9 beside a sum from none."""
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
    """Whether two values of the same make have the same dtypes; a plain number may stand for any."""
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
    """Return the first difference between a student's value and ours in words."""
    try:
        return difference(ours, theirs) or ""
    except TypeError:  # of things that are no numbers
        return ""


def encode(value: Any) -> Any:
    """Return a value as JSON can hold it; what has no form of its own is an object, and equals no other."""
    if value is None or type(value) in (bool, str):
        return value if type(value) is not str else {"text": value[:LARGEST]}
    if type(value) in (tuple, list):
        return {type(value).__name__: [encode(item) for item in value[:LARGEST]]}
    if type(value) is dict:
        return {"dict": {str(key): encode(item) for key, item in value.items()}}
    if type(value) in (int, float):
        return {"number": _digits(float(value)), "dtype": "int" if type(value) is int else _PLAIN}
    array = as_float64(value)
    if array is None or array.size > LARGEST:
        return {"object": True}
    dtype = str(value.dtype)
    if not array.ndim and isinstance(value, np.generic):  # an array or a tensor without axes stays one
        return {"number": _digits(float(array)), "dtype": dtype}
    digits = SHORT if dtype.endswith(("float32", "float16")) else DIGITS
    return {"array": [_digits(x, digits) for x in array.ravel().tolist()], "shape": list(array.shape), "dtype": dtype}


class Unreadable:
    """Stands for a value that has no form here."""


def decode(data: Any) -> Any:
    """Return what `encode` wrote."""
    if data is None or type(data) is bool:
        return data
    (kind, content), *_ = data.items()
    match kind:
        case "text":
            return content
        case "tuple":
            return tuple(map(decode, content))
        case "list":
            return list(map(decode, content))
        case "dict":
            return {key: decode(item) for key, item in content.items()}
        case "number":
            return _number(float(content), data["dtype"])
        case "array":
            flat = np.array([float(x) for x in content])
            return _typed(flat.reshape(data["shape"]), data["dtype"])
    return Unreadable()


def _number(value: float, dtype: str) -> Any:
    if dtype == "int":
        return int(value)
    return value if dtype == _PLAIN else np.dtype(dtype).type(value)


def _typed(array: np.ndarray, dtype: str) -> Any:
    if dtype.startswith("torch."):
        import torch

        return torch.from_numpy(array).to(getattr(torch, dtype.removeprefix("torch.")))
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _digits(value: float, digits: int = DIGITS) -> float | str:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else str(value)


def outcome_data(outcome: ProbeOutcome) -> dict[str, Any]:
    """Return an outcome as plain data for a golden file."""
    data: dict[str, Any] = {"ended": outcome.ended}
    if outcome.ended == "returned":
        data["value"] = encode(outcome.value)
    if outcome.numbers:
        data["numbers"] = list(outcome.numbers)
    if outcome.changed:
        data["changed"] = {name: encode(value) for name, value in outcome.changed.items()}
    return data


def outcome_of(data: Mapping[str, Any]) -> ProbeOutcome:
    """Return what `outcome_data` wrote."""
    changed = {name: decode(value) for name, value in data.get("changed", {}).items()}
    return ProbeOutcome(data["ended"], decode(data.get("value")), tuple(data.get("numbers", ())), changed)

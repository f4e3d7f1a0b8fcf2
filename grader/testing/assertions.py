"""Assertions for checks that are safe on any result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.core.compare import EXACT, Tolerance, as_float64, describe, difference, shape_of
from grader.core.errors import StudentRaisedError
from grader.sandbox.protocol.device_findings import STEPS, DeviceCall, DeviceCopy, DeviceFinding
from grader.sandbox.student import Call

__tracebackhide__ = True  # pytest shows the message to a student, not the code of the assertion

# Right weights, computed in any style, sum to 1 within a few thousand rounding errors of their dtype.
ROW_SUM_GAP = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}

MAX_OTHERS = 4  # lines with findings that a message names besides the first


def assert_close(actual: Any, expected: Any, tolerance: Tolerance | None = None, *, of: str = "") -> None:
    """Fail unless the student's value is the expected one. `of` names the value in the message."""
    found = difference(actual, expected, tolerance)
    assert found is None, f"{of}: {found}" if of else found


def assert_equal(actual: Any, expected: Any, *, of: str = "") -> None:
    """Fail unless the student's value is exactly the expected one. The message has the first place that differs."""
    assert_close(actual, expected, EXACT, of=of)


def array_like(value: Any, shape: tuple[int, ...], *, of: str = "the result") -> np.ndarray:
    """Return the student's value as a finite float64 array of this shape, or fail."""
    found = shape_of(value)
    assert found is not None, f"{of} should be an array of shape {shape}, got {describe(value)}"
    assert found == shape, f"{of} has the shape {found}, expected {shape}"
    array = as_float64(value)
    assert array is not None, f"{of} should hold real numbers, got {describe(value)}"
    bad = int((~np.isfinite(array)).sum())
    assert bad == 0, f"{of} holds {bad} values that are NaN or infinite"
    return array


def assert_rows_sum_to_one(
    value: Any, shape: tuple[int, ...], *, axis: int = -1, dtype: Any = np.float64, ties: bool = True
) -> None:
    """Fail unless every slice along an axis is a probability distribution, within the precision of the dtype.

    With `ties=False`, for random scores, weights fail also if all have four decimals, and not two as those of equal
    scores: the sum of rounded weights is often 1 by chance.
    """
    weights = array_like(value, shape)
    lowest = weights.min()
    assert lowest >= 0, f"a weight is negative: {lowest:.4g}"
    gap = np.abs(weights.sum(axis=axis) - 1)
    assert gap.max() <= ROW_SUM_GAP[np.dtype(dtype)], (
        f"the weights along axis {axis} sum to {1 + _signed(weights, axis):.12g}, not to 1"
    )
    parts = weights[(weights > 0) & (weights < 1)]
    is_rounded = not ties and np.array_equal(parts, parts.round(4)) and not np.array_equal(parts, parts.round(2))
    assert not is_rounded, "the weights are rounded: none of them has more than four decimals"


def assert_dtype(value: Any, expected: Any) -> None:
    """Fail unless the result is an array or tensor of this dtype."""
    # No conversion: 256 MB of bytes would become 2 GB of floats.
    dtype = value.dtype if shape_of(value) is not None else None
    assert dtype is not None, f"expected an array of {expected}, got {describe(value)}"
    assert dtype == expected, f"the result is {dtype}, expected {getattr(expected, '__name__', expected)}"


def assert_unmodified(call: Call, *originals: Any) -> None:
    """Fail if a call changed its positional arguments."""
    for position, (after, before) in enumerate(zip(call.args, originals, strict=True)):
        found = difference(after, before, EXACT, name="argument")
        assert found is None, f"argument {position + 1} was modified: {found}"


def assert_disciplined(
    found: DeviceCall,
    expected: Any,
    tolerance: Tolerance | None = None,
    *,
    device: str | None = None,
    non_blocking: bool = False,
) -> None:
    """Fail if a call mixed devices, made the CPU wait for the GPU, or returned something else than expected.

    The message names the line. With `device` ("cpu" or "cuda"), every tensor of the result must be there. With
    `non_blocking`, no copy to the GPU may make the CPU wait.
    """
    for finding in found.findings[:1]:  # only the first: it often causes the later ones
        others = sorted({one.line for one in found.findings if one.line not in (0, finding.line)})
        more = f" Look at line {_listed(others[:MAX_OTHERS])}, too." if others else ""
        raise AssertionError(f"{_place(finding)}{finding.what}. {STEPS[finding.kind]}{more}")
    if device is not None:
        strays = sum(one.partition(":")[0] != device for one in found.devices)
        assert not strays, f"{strays} of {len(found.devices)} tensors of the result are not on the device {device}"
    if non_blocking:
        waiting = [copy for copy in found.copies if not copy.non_blocking]
        assert not waiting, f"{_place(waiting[0])}the CPU waits for this copy. Copy with non_blocking=True."
    assert_close(found.value, expected, tolerance, of="the result" if device is None else f"the result on {device}")


def assert_raises(kind: type[Exception], call: Callable[[], Any], *named: float | str) -> None:
    """Fail unless the call raises this exception, with these numbers and texts in its message."""
    error = _raised_by(call)
    # A name without a module is a built-in. A student's own class has its module in front.
    assert kind.__name__ in error.types, f"expected a {kind.__name__}: {error}"
    found = _numbers_in(error.message)
    missing = [one for one in named if one not in (error.message if isinstance(one, str) else found)]
    assert not missing, f"the message should name {_listed(missing)}: {error.message!r}"


def _raised_by(call: Callable[[], Any]) -> StudentRaisedError:
    try:
        value = call()
    except StudentRaisedError as error:
        return error
    raise AssertionError(f"expected an exception, but it returned {describe(value)}")


def _signed(weights: np.ndarray, axis: int) -> float:
    gaps = weights.sum(axis=axis).ravel() - 1
    return float(gaps[np.abs(gaps).argmax()])


def _numbers_in(message: str) -> list[float]:
    # A dash after a digit or a letter is not a minus sign: "0-5" names 0 and 5.
    return [float(text) for text in re.findall(r"(?:(?<!\w)-)?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?", message)]


def _place(where: DeviceFinding | DeviceCopy) -> str:
    return f"line {where.line} of {where.file}: " if where.line else ""


def _listed(named: Sequence[float | str]) -> str:
    return " and ".join(repr(one) if isinstance(one, str) else f"{one:g}" for one in named)

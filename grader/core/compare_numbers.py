"""The comparison of numbers, arrays and tensors.

It reports the first difference in this order: type, shape, NaN pattern, inf pattern, tolerance. It does not compare
dtypes (separate checks do that). The tolerance follows the dtype of the *expected* value, which the student cannot
choose.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.core.plain_values import describe, is_tensor, short


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference: `absolute + relative * |expected|`."""

    relative: float
    absolute: float


# A right formula is off by a few dozen rounding errors, a wrong one by thousands.
TOLERANCES = {
    8: Tolerance(1e-9, 1e-12),
    4: Tolerance(2e-5, 1e-6),
    2: Tolerance(1e-2, 1e-3),
}
BFLOAT16 = Tolerance(3e-2, 1e-2)
EXACT = Tolerance(0.0, 0.0)


def as_float64(value: Any) -> np.ndarray | None:
    """Return a real number, array or tensor as float64; None for anything else."""
    if type(value) in (int, float):
        return np.asarray(_float(value))
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if is_tensor(value):
        return _tensor_as_float64(value)
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            return value.astype(np.float64)
    return None


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, a NumPy scalar or a tensor; None for anything else."""
    if type(value) is np.ndarray or isinstance(value, np.generic) or is_tensor(value):
        return tuple(map(int, value.shape))
    return None


def _tensor_as_float64(tensor: Any) -> np.ndarray | None:
    torch = sys.modules["torch"]
    dtype = tensor.dtype
    if dtype.is_complex:
        return None
    try:
        if (dtype is torch.float32 or dtype is torch.float64) and tensor.is_cpu:  # the fast path
            return np.asarray(tensor.detach().numpy(), dtype=np.float64)
        return np.asarray(tensor.detach().to(torch.float64).numpy())
    except (NotImplementedError, RuntimeError):  # dtypes that torch can store but not convert, such as bits8
        return None


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def complex_difference(actual: Any, expected: complex, tolerance: Tolerance | None) -> str | None:
    """Return the difference of a number from an expected complex one."""
    if type(actual) not in (int, float, complex) and not isinstance(actual, np.number):
        return f"expected the number {expected}, got {describe(actual)}"
    got, allowed = complex(actual), tolerance or TOLERANCES[8]
    is_close = abs(got - expected) <= allowed.absolute + allowed.relative * abs(expected)
    return None if got == expected or is_close else f"the value is off: got {got}, expected {expected}"


def number_difference(actual: Any, expected: Any, tolerance: Tolerance | None) -> str | None:
    """Return the first difference between numbers, arrays or tensors."""
    want = as_float64(expected)
    if want is None:
        raise TypeError(f"the expected value of a comparison cannot be {describe(expected)}")
    if not _same_kind(actual, expected, want.ndim):
        return f"expected {_describe_expected(expected, want.ndim)}, got {describe(actual)}"
    shape = shape_of(actual) or ()
    if shape != want.shape:  # before any conversion: an array of the wrong shape could be huge
        return shape_difference(shape, want.shape)
    got = as_float64(actual)
    if got is None:
        return f"expected real numbers, got {describe(actual)}"
    if found := _integer_difference(actual, expected):
        return found
    if _is_close(got, want, tolerance or tolerance_of(expected)):
        return None
    for name, test in (("NaN", np.isnan), ("infinite", np.isinf)):
        if found := _pattern_difference(got, want, name, test):
            return found
    signs = np.isinf(want) & (np.sign(got) != np.sign(want))
    if signs.any():
        return _with_first_position(got, want, signs, "the sign of an infinity is wrong")
    return _tolerance_difference(got, want, tolerance or tolerance_of(expected))


def tolerance_of(expected: Any) -> Tolerance:
    """Return the tolerance for an expected value, by its dtype. Integers and booleans must be exact."""
    if type(expected) is int:
        return EXACT
    if type(expected) is float:
        return TOLERANCES[8]
    if is_tensor(expected):
        torch = sys.modules["torch"]
        if not expected.is_floating_point():
            return EXACT
        if expected.dtype == torch.bfloat16:
            return BFLOAT16
        return TOLERANCES.get(expected.element_size(), BFLOAT16)
    dtype = expected.dtype
    return TOLERANCES[min(8, dtype.itemsize)] if dtype.kind == "f" else EXACT


def _same_kind(actual: Any, expected: Any, ndim: int) -> bool:
    """Whether the types match. A number may also be a NumPy scalar or a 0-d array; an array must be an array."""
    if is_tensor(expected):
        return is_tensor(actual)
    if ndim == 0:
        return type(actual) in (int, float, np.ndarray) or isinstance(actual, np.number)
    return type(actual) is np.ndarray


def _describe_expected(expected: Any, ndim: int) -> str:
    if is_tensor(expected):
        return f"a tensor of shape {tuple(expected.shape)}"
    if ndim:
        return f"a NumPy array of shape {np.shape(expected)}"
    return f"the number {short(expected)}" if type(expected) in (int, float) else "a number"


def shape_difference(got: tuple[int, ...], want: tuple[int, ...]) -> str:
    """Return how two different shapes differ."""
    if len(got) != len(want):
        return f"the shape is {got}, expected {want}: {len(got)} dimensions instead of {len(want)}"
    axis = next(i for i, (a, b) in enumerate(zip(got, want, strict=True)) if a != b)
    return f"the shape is {got}, expected {want}: axis {axis} has {got[axis]} instead of {want[axis]}"


def _integer_difference(actual: Any, expected: Any) -> str | None:
    """Compare two integer arrays directly: float64 would lose the last digits above 2**53."""
    if not all(type(value) is np.ndarray and value.dtype.kind in "iu" for value in (actual, expected)):
        return None
    wrong = actual != expected
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    position = ", ".join(map(str, index))
    values = f"got {actual[index]}, expected {expected[index]}"
    return f"{int(wrong.sum())} of {wrong.size} values are off; first at [{position}]: {values}"


def _pattern_difference(got: np.ndarray, want: np.ndarray, name: str, test: Any) -> str | None:
    wrong = test(got) != test(want)
    if not wrong.any():
        return None
    count = int((test(got) & wrong).sum())
    if count:
        return _with_first_position(got, want, wrong, f"{count} of {got.size} values are {name} and should not be")
    return _with_first_position(got, want, wrong, f"{int(wrong.sum())} of {got.size} values should be {name}")


def _is_close(got: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> bool:
    """Accept right answers fast. False if either side has a NaN or an infinity."""
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = tolerance.absolute + tolerance.relative * np.abs(want)
        return bool((np.abs(got - want) <= allowed).all() and np.isfinite(want).all())


def _tolerance_difference(got: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> str | None:
    finite = np.isfinite(want)
    gap = np.zeros(want.shape)
    with np.errstate(over="ignore"):  # the gap between two finite numbers can exceed float64
        gap[finite] = np.abs(got[finite] - want[finite])
        allowed = tolerance.absolute + tolerance.relative * np.abs(np.where(finite, want, 0.0))
    wrong = gap > allowed
    if not wrong.any():
        return None
    share = f"{int(wrong.sum())} of {wrong.size} values are off" if wrong.size > 1 else "the value is off"
    return _with_first_position(got, want, wrong, f"{share}, the largest gap is {gap.max():.3g}")


def _with_first_position(got: np.ndarray, want: np.ndarray, wrong: np.ndarray, what: str) -> str:
    """Add the first wrong position and both values there to a message."""
    if not got.ndim:
        return f"{what}: got {_show(got)}, expected {_show(want)}"
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    position = ", ".join(map(str, index))
    return f"{what}; first at [{position}]: got {_show(got[index])}, expected {_show(want[index])}"


def _show(number: Any) -> str:
    return f"{float(number):.7g}"

"""Softmax, fully annotated."""

from __future__ import annotations

from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = "npt.NDArray[np.float32] | npt.NDArray[np.float64]"
Axis: TypeAlias = int
F = TypeVar("F", np.float32, np.float64)

DEFAULT_AXIS: Final[Axis] = -1


class Normaliser(Protocol):
    """Anything that maps an array to an array of the same shape."""

    def __call__(self, x: npt.ArrayLike, axis: Axis = ...) -> FloatArray: ...


class Shifted(Generic[F]):
    """Scores minus their maximum, with the dtype they had."""

    values: npt.NDArray[F]
    axis: Axis

    def __init__(self, values: npt.NDArray[F], axis: Axis) -> None:
        self.axis: Axis = axis
        self.values: npt.NDArray[F] = values - values.max(axis=axis, keepdims=True)

    def total(self) -> npt.NDArray[F]:
        return np.exp(self.values).sum(axis=self.axis, keepdims=True)


@overload
def _floating(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]: ...
@overload
def _floating(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...
@overload
def _floating(x: npt.ArrayLike) -> FloatArray: ...
def _floating(x: Any) -> Any:
    array: npt.NDArray[Any] = np.asarray(x)
    if not np.issubdtype(array.dtype, np.floating):
        return array.astype(np.float64)
    return array


def softmax(x: npt.ArrayLike, axis: Axis = DEFAULT_AXIS) -> FloatArray:
    """Return the softmax of x along one axis."""
    shifted: Shifted[Any] = Shifted(_floating(x), axis)
    return cast("FloatArray", np.exp(shifted.values) / shifted.total())


def log_softmax(x: npt.ArrayLike, axis: Axis = DEFAULT_AXIS) -> FloatArray:
    """Return the logarithm of the softmax of x along one axis."""
    shifted: Shifted[Any] = Shifted(_floating(x), axis)
    return cast("FloatArray", shifted.values - np.log(shifted.total()))


def softmax_with_temperature(x: npt.ArrayLike, temperature: float, axis: Axis = DEFAULT_AXIS) -> FloatArray:
    """Return softmax(x / temperature) along one axis."""
    if not temperature > 0:
        message: str = f"temperature must be above 0, not {temperature!r}"
        raise ValueError(message)
    normalise: Normaliser = softmax
    return normalise(_floating(x) / float(temperature), axis=axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32: Final[int] = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64: Final[int] = 709

"""
Numerically Stable Softmax
==========================

This module provides numerically stable implementations of the softmax function and two of its relatives.

Functions
---------
softmax
    The softmax along one axis.
log_softmax
    The logarithm of the softmax, computed with the log-sum-exp identity.
softmax_with_temperature
    The softmax of scores divided by a temperature.

Notes
-----
All functions subtract the maximum along the axis first. This leaves the result unchanged, because

    exp(x_i - m) / sum_j exp(x_j - m) = exp(x_i) / sum_j exp(x_j).
"""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np

logger = logging.getLogger(__name__)
logger.addHandler(logging.NullHandler())

_EPSILON_MESSAGE = "temperature must be strictly positive, but got {temperature!r}"


class _Stabilized(NamedTuple):
    """Intermediate results that every function of this module needs.

    Attributes
    ----------
    shifted : np.ndarray
        The scores minus their maximum along the axis.
    exponentials : np.ndarray
        The exponentials of `shifted`.
    normalizer : np.ndarray
        The sum of the exponentials along the axis, with the axis kept.
    """

    shifted: np.ndarray
    exponentials: np.ndarray
    normalizer: np.ndarray


def _stabilize(x: np.ndarray, axis: int) -> _Stabilized:
    """Compute the intermediate results for `x` along `axis`.

    Parameters
    ----------
    x : np.ndarray
        The scores. Integers are converted to float64.
    axis : int
        The axis of the reduction.

    Returns
    -------
    _Stabilized
        The shifted scores, their exponentials and the normalizer.
    """
    # Step 1: Convert the input to a floating point array without modifying it.
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        logger.debug("converting %s to float64", x.dtype)
        x = x.astype(np.float64)

    # Step 2: Subtract the maximum for numerical stability.
    maximum = np.max(x, axis=axis, keepdims=True)
    shifted = x - maximum

    # Step 3: Exponentiate. All arguments are at most 0, so there is no overflow.
    exponentials = np.exp(shifted)

    # Step 4: Sum along the axis.
    normalizer = np.sum(exponentials, axis=axis, keepdims=True)

    return _Stabilized(shifted, exponentials, normalizer)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Compute the softmax of `x` along `axis`.

    Examples
    --------
    >>> softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    stabilized = _stabilize(x, axis)
    return stabilized.exponentials / stabilized.normalizer


def log_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Compute the logarithm of the softmax of `x` along `axis`.

    Examples
    --------
    >>> log_softmax(np.array([0.0, -2000.0]))
    array([    0., -2000.])
    """
    shifted, _, normalizer = _stabilize(x, axis)
    return shifted - np.log(normalizer)


def softmax_with_temperature(x: np.ndarray, temperature: float, axis: int = -1) -> np.ndarray:
    """Compute the softmax of `x / temperature` along `axis`.

    Raises
    ------
    ValueError
        If `temperature` is not strictly positive.
    """
    if temperature <= 0:
        raise ValueError(_EPSILON_MESSAGE.format(temperature=temperature))
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    # np.asarray(..., dtype=x.dtype) keeps float32 inputs in float32.
    return softmax(x / np.asarray(temperature, dtype=x.dtype), axis=axis)


def _main() -> None:
    import doctest

    results = doctest.testmod()
    print(f"doctest: {results.attempted} examples, {results.failed} failures")


if __name__ == "__main__":
    _main()

REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709

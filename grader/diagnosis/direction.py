"""Small mistakes of different sizes: 1e-9 or 1e-6 added to a sum moves every weight in the same direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.core.compare import as_float64

_STRAY = 0.02  # of the largest difference: golden files keep twelve digits


def same_direction(found: Any, known: Any, right: Any) -> bool:
    """Whether two values differ from the right one in the same direction, by any amount."""
    one, other, base = map(_entries, (found, known, right))
    if one is None or other is None or base is None or not one.shape == other.shape == base.shape:
        return False
    off, wrong = one - base, other - base
    square = float(wrong @ wrong)
    if not np.isfinite(square) or not np.isfinite(off).all() or not square:
        return False
    times = float(off @ wrong) / square
    return times > 0 and bool(np.abs(off - times * wrong).max() <= _STRAY * np.abs(off).max())


def _entries(value: Any) -> np.ndarray | None:
    """Return all numbers of a value, or of a tuple of values, as one row; None if it has others."""
    if type(value) is tuple:
        parts = [part for part in map(_entries, value) if part is not None]
        return np.concatenate(parts) if parts and len(parts) == len(value) else None
    array = as_float64(value)
    return None if array is None else np.ravel(array)

"""Arrays in a value, the array that owns the memory of a view, and names of functions."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of a result: the result itself, or the items of a tuple or list."""
    if isinstance(value, np.ndarray):
        yield value
    elif type(value) in (tuple, list):
        for item in value:
            if isinstance(item, np.ndarray):
                yield item


def owner_of(array: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of a view, also for views made by stride tricks."""
    while array.base is not None:
        base = array.base if isinstance(array.base, np.ndarray) else getattr(array.base, "base", None)
        if not isinstance(base, np.ndarray):
            break
        array = base
    return array


def name_of(function: Any) -> str:
    """Return the name of a function as a student would write it."""
    owner = getattr(function, "__self__", None)
    name = str(getattr(function, "__name__", None) or type(function).__name__)[:80]
    if isinstance(owner, np.ndarray):
        return f"ndarray.{name}"
    if isinstance(owner, np.ufunc):
        return f"numpy.{owner.__name__}.{name}"
    if owner is not None and not isinstance(owner, types.ModuleType):
        return f"{type(owner).__name__}.{name}"
    module = "numpy" if isinstance(function, np.ufunc) else str(getattr(function, "__module__", None) or "")[:80]
    return name if module in ("", "builtins") else f"{module}.{name}"

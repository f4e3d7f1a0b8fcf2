"""What the quick run tries of a test with many cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

# One module of NumPy and one of PyTorch, where a test grades much of a module. Only the first is quick: PyTorch takes
# seconds to start.
QUICK = ("01_softmax", "06_multi_head_attention")


def quick_or_exhaustive(names: Iterable[str]) -> list[Any]:
    """Return parameters for a test of each module; only those of the quick run are not exhaustive."""
    return [pytest.param(name, marks=() if name == QUICK[0] else pytest.mark.exhaustive) for name in names]


def some_of(names: Iterable[str], every: int) -> list[Any]:
    """Return parameters for a test of each name; only the first of so many is not exhaustive."""
    return some_cases({name: (name,) for name in names}, every)


def some_cases(cases: Mapping[str, tuple[Any, ...]], every: int) -> list[Any]:
    """Return parameters for a test of each case, by its name; only the first of so many is not exhaustive."""
    return [
        pytest.param(*values, id=name, marks=pytest.mark.exhaustive if number % every else ())
        for number, (name, values) in enumerate(cases.items())
    ]

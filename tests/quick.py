"""What the quick run tries of a test with many cases, and what `make test-rest` tries of the longest ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pytest

# One module of NumPy and one of PyTorch, where a test grades much of a module. Only the first is quick: PyTorch takes
# seconds to start.
QUICK = ("01_softmax", "06_multi_head_attention")

EVERY_CASE = "EVERY_CASE"  # `make test-every` sets it

T = TypeVar("T")


def sampled(cases: Sequence[T], every: int) -> list[T]:
    """Return the first of so many cases; with `make test-every`, all of them."""
    return list(cases if os.environ.get(EVERY_CASE) else cases[::every])


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

"""Which modules the quick run tries, where a test grades much of a module: one of NumPy, one of PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

QUICK = ("01_softmax", "06_multi_head_attention")


def quick_or_exhaustive(names: Iterable[str]) -> list[Any]:
    """Return parameters for a test of each module; only those of the quick run are not exhaustive."""
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.exhaustive) for name in names]

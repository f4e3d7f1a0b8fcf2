"""Which calls on the simulated GPU are followed step by step. That takes as long again as the call itself."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

ONE_IN = 4

# Code that torch calls back while it answers: only when it is followed are its own calls simulated, too.
_CALLED_BACK = re.compile(rb"hook|\bFunction\b|checkpoint|custom_op|\bvmap\b|map_\b|apply_\b")


class TracedCalls:
    """Chooses the calls: the first of every function, and some of the others that code cannot foresee."""

    def __init__(self, files: Mapping[str, Mapping[str, Any]], seed: int) -> None:
        self._files = files
        self._rng = random.Random(seed)
        self._seen: set[str] = set()

    @cached_property
    def _always(self) -> bool:
        return any(_CALLED_BACK.search(cell) for one in self._files.values() for cell in one["cells"])

    def has_next(self, owner: str) -> bool:
        """Whether the next call of a function is one of them."""
        chosen = self._rng.randrange(ONE_IN) == 0
        first = owner not in self._seen
        self._seen.add(owner)
        return self._always or first or chosen

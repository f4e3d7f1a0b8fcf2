"""The target of an assignment to items of an array or a list, which counts what is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.sandbox.worker.meters.counts import Counts


class AssignmentTarget:
    """Replaces an array or list on the left of `=`, to count the assignment."""

    __slots__ = ("at", "meter", "owner")

    def __init__(self, meter: Counts, at: int, owner: Any) -> None:
        self.meter = meter
        self.at = at
        self.owner = owner

    def __setitem__(self, index: Any, value: Any) -> None:
        self.owner[index] = value
        if isinstance(self.owner, list):
            if type(index) is slice:
                self.meter.walked(self.at, len(self.owner[index]))
        elif not _is_single(index, self.owner.ndim):
            self.meter.worked(self.at, int(np.size(self.owner[index])))

    def __delitem__(self, index: Any) -> None:
        self.meter.walked(self.at, len(self.owner))
        del self.owner[index]


def _is_single(index: Any, ndim: int) -> bool:
    parts = index if type(index) is tuple else (index,)
    return len(parts) == ndim and all(isinstance(part, int | np.integer) for part in parts)

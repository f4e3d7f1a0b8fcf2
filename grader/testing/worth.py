"""What an author declares about a check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

Decorator = Callable[[FunctionType], FunctionType]


@dataclass(frozen=True)
class Worth:
    """What `@worth` says of a test function; as an author wrote it, so anything may be wrong with it."""

    points: float
    property: str
    target: str | None
    needs: str | None


def worth(points: float, property: str, *, target: str | None = None, needs: str | None = None) -> Decorator:
    """Make a test function a check: what it is worth, and what it shows, in words a student reads.

    `target` is the function it examines (the module's first, if not said); `needs` names an earlier check,
    without which this one is held back.
    """

    def mark(function: FunctionType) -> FunctionType:
        vars(function)["worth"] = Worth(points, property, target, needs)
        if (pytest := sys.modules.get("pytest")) is None:  # a student's own checks do without
            return function
        marked: FunctionType = pytest.mark.worth(points, property, target=target, needs=needs)(function)
        return marked

    return mark

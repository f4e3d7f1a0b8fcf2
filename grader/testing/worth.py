"""The decorator that makes a test function a check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

Decorator = Callable[[FunctionType], FunctionType]


@dataclass(frozen=True)
class Worth:
    """The arguments of `@worth`, exactly as the author wrote them. They are not checked yet."""

    points: float
    property: str
    target: str | None
    needs: str | None
    slow: bool = False
    cpu_s: float | None = None


def worth(
    points: float,
    property: str,
    *,
    target: str | None = None,
    needs: str | None = None,
    slow: bool = False,
    cpu_s: float | None = None,
) -> Decorator:
    """Make a test function a check with these points. `property` says what it checks; students read it.

    `target` is the function that it tests (by default the module's first). `needs` names an earlier check; if that one
    fails, this one is held back. `cpu_s` is the CPU time that one call in it may take. A `slow` check, such as a
    training run, starts in a new process and runs only once; while it runs, the screen says so.
    """

    def mark(function: FunctionType) -> FunctionType:
        vars(function)["worth"] = Worth(points, property, target, needs, slow, cpu_s)
        if (pytest := sys.modules.get("pytest")) is None:  # a student's own checks run without pytest
            return function
        marker = pytest.mark.worth(points, property, target=target, needs=needs, slow=slow, cpu_s=cpu_s)
        marked: FunctionType = marker(function)
        return marked

    return mark

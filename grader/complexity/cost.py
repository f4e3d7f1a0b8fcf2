"""Costs: the verdict on one meter of one function, and the calls that have a name of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CostVerdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class CodeLine:
    """A line of a student's file."""

    file: str
    line: int


@dataclass(frozen=True)
class Cost:
    """The verdict on one meter of one function. `measured` is its polynomial, or says how it grows."""

    function: str
    meter: str
    law: str
    measured: str
    verdict: CostVerdict
    points: float
    place: CodeLine | None
    message: str
    too_little: bool = False  # failed for what is not there

    @property
    def target(self) -> str:
        return self.function.partition(".")[0]

    @property
    def earned(self) -> float:
        """Inconclusive keeps its points until somebody has looked."""
        return 0.0 if self.verdict == "fail" else self.points


@dataclass(frozen=True)
class Event:
    """A call with a name of its own, such as a product of arrays, and where it is made."""

    function: str
    call: str
    place: CodeLine

    @property
    def target(self) -> str:
        return self.function.partition(".")[0]

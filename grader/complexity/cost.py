"""The cost of one function by one meter."""

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
    """The verdict on one meter. `law` is its limit; `measured` is its polynomial, or says how it grows."""

    function: str
    meter: str
    law: str
    measured: str
    verdict: CostVerdict
    points: float
    place: CodeLine | None
    message: str
    too_little: bool = False  # failed because expected work is missing

    @property
    def target(self) -> str:
        return self.function.partition(".")[0]

    @property
    def earned(self) -> float:
        """The points earned; an inconclusive cost keeps them until an instructor has checked it."""
        return 0.0 if self.verdict == "fail" else self.points


@dataclass(frozen=True)
class Event:
    """A call that a report can name, such as a product of arrays, and its line."""

    function: str
    call: str
    place: CodeLine

    @property
    def target(self) -> str:
        return self.function.partition(".")[0]

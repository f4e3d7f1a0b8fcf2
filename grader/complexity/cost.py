"""The cost of one function by one meter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CostVerdict = Literal["pass", "fail", "inconclusive"]
WRONG_RESULTS = "the results are wrong, so the cost does not count"  # a report must not show the right results


@dataclass(frozen=True)
class CodeLine:
    """A line of a student's file."""

    file: str
    line: int


def path_of(contract: str) -> str:
    """Return the function or method that the name of a contract begins with: `attend` for `attend (causal)`."""
    return contract.partition(" (")[0]


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
        return path_of(self.function).partition(".")[0]

    @property
    def breaks_limit(self) -> bool:
        """Whether the count itself is against the limit, and not only something else about the function."""
        beyond = bool(self.measured) and self.message != WRONG_RESULTS
        return self.verdict == "fail" and (beyond or self.too_little)

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
        return path_of(self.function).partition(".")[0]

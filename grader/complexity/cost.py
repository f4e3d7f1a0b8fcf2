"""What a function costs: the verdict on one meter, a call that a report names, and the speed on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from grader.core.report import Report

CostVerdict = Literal["pass", "fail", "inconclusive"]
WRONG_RESULTS = "the results are wrong, so the cost does not count"  # a report must not show the right results
MS, TIMES = "ms", "times_built_in"


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


@dataclass(frozen=True)
class Speed:
    """The time that a function takes on the GPU, and the time of the built-in for the same call, in milliseconds."""

    function: str
    ms: float
    built_in_ms: float


def as_timing(speeds: tuple[Speed, ...]) -> Mapping[str, float]:
    """Return speeds as entries of a report's `timing`, the part that differs from run to run."""
    return {
        key: value
        for one in speeds
        for key, value in (
            (f"gpu.{one.function}.{MS}", round(one.ms, 5)),
            (f"gpu.{one.function}.{TIMES}", round(one.ms / max(one.built_in_ms, 1e-6), 3)),
        )
    }


@dataclass(frozen=True, order=True)
class LeaderboardEntry:
    """One line of a leaderboard. Lower is faster; 1 is as fast as PyTorch's own attention."""

    function: str
    times_built_in: float
    ms: float
    submission: str


def entries(report: Report) -> list[LeaderboardEntry]:
    """Return the speeds of a report; an empty list if it was not graded on a GPU."""
    found = []
    for key, times in report.timing.items():
        prefix, _, rest = key.partition(".")
        function, _, what = rest.rpartition(".")
        ms = report.timing.get(f"gpu.{function}.{MS}")
        if prefix == "gpu" and what == TIMES and times is not None and ms is not None:
            found.append(LeaderboardEntry(function, times, ms, report.submission))
    return found

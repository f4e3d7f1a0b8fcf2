"""Speeds on a GPU: they are shown and compared, but never graded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.core.report import Report

MS, TIMES = "ms", "times_built_in"


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

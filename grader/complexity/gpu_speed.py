"""Speeds on a GPU: shown, compared, and never a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.core.report import Report

MS, TIMES = "ms", "times_built_in"


@dataclass(frozen=True)
class Speed:
    """How long a function takes on the GPU, and how long the built-in took for the same, in milliseconds."""

    function: str
    ms: float
    built_in_ms: float


def as_timing(speeds: tuple[Speed, ...]) -> Mapping[str, float]:
    """Return speeds as a report has them: beside its other times, which differ from run to run."""
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
    """One line of a leaderboard: lower is faster, and 1 is as fast as PyTorch's own attention."""

    function: str
    times_built_in: float
    ms: float
    submission: str


def entries(report: Report) -> list[LeaderboardEntry]:
    """Return what a report says of speeds; nothing if it is not from a GPU."""
    found = []
    for key, times in report.timing.items():
        prefix, _, rest = key.partition(".")
        function, _, what = rest.rpartition(".")
        ms = report.timing.get(f"gpu.{function}.{MS}")
        if prefix == "gpu" and what == TIMES and times is not None and ms is not None:
            found.append(LeaderboardEntry(function, times, ms, report.submission))
    return found

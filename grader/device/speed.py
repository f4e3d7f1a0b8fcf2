"""Speeds on a GPU: shown, compared, and never a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
            (f"gpu.{one.function}.ms", round(one.ms, 5)),
            (f"gpu.{one.function}.times_built_in", round(one.ms / max(one.built_in_ms, 1e-6), 3)),
        )
    }

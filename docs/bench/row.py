"""A row of the benchmark: two figures of the same run, their ratio, and its limit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Unit = Literal["s", "/s", "B", ""]
Verdict = Literal["ok", "under its goal", "NOT", ""]
_STEPS: dict[Unit, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "/s": ((1.0, "/s"),),
    "B": ((1e6, "MB"), (1e3, "kB")),
}


@dataclass(frozen=True)
class Limit:
    """Bounds of a ratio: the benchmark fails outside of `least` and `most`, but not if a goal is missed."""

    least: float | None = None
    most: float | None = None
    goal: float | None = None

    def verdict(self, ratio: float) -> Verdict:
        """Return the verdict on a ratio; empty if there are no bounds."""
        if self == ANY:
            return ""
        if (self.least is not None and ratio < self.least) or (self.most is not None and ratio > self.most):
            return "NOT"
        return "under its goal" if self.goal is not None and ratio < self.goal else "ok"

    def __str__(self) -> str:
        words = {"at least": self.least, "at most": self.most, "goal": self.goal}
        return ", ".join(f"{word} {value:g}" for word, value in words.items() if value is not None)


ANY = Limit()  # a figure without bounds


@dataclass(frozen=True)
class Row:
    """One line of the table. Figures are in seconds, bytes or pieces per second."""

    part: str
    name: str
    ours: float
    other: str
    theirs: float
    ratio: float
    unit: Unit = "s"
    limit: Limit = ANY

    @property
    def verdict(self) -> Verdict:
        """The verdict on the ratio."""
        return self.limit.verdict(self.ratio)

    def as_json(self) -> dict[str, Any]:
        """Return the row as data."""
        return {**asdict(self), "ratio": round(self.ratio, 4), "verdict": self.verdict}


def costs(part: str, name: str, ours: float, other: tuple[str, float], *, most: float | None = None) -> Row:
    """Return the row of a cost, with its ratio to the other cost."""
    return Row(part, name, ours, other[0], other[1], ours / other[1], "s", Limit(most=most))


def quickness(part: str, name: str, ours: float, other: tuple[str, float], limit: Limit = ANY) -> Row:
    """Return the row of a speed in pieces per second, with its ratio to the other speed."""
    return Row(part, name, ours, other[0], other[1], ours / other[1], "/s", limit)


def figure(value: float, unit: Unit) -> str:
    """Return a figure with three digits and its unit."""
    if not unit:
        return f"{value:g}"
    steps = _STEPS[unit]
    size, word = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    scaled = value / size
    digits = 3 if abs(scaled) < 1 else max(0, 3 - len(f"{abs(scaled):.0f}"))
    return f"{scaled:.{digits}f} {word}"

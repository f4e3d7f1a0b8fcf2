"""What a grading could not decide, and the instructor's decision about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReviewKind = Literal["cost", "code", "check"]
Verdict = Literal["accepted", "rejected"]
Decision = Literal["open", "accepted", "rejected"]
Undecided = Literal["count", "withhold"]  # whether undecided points count until a person has decided


@dataclass(frozen=True)
class ReviewItem:
    """One thing that a person must decide. `target` is a function or class, or empty for the complete submission.

    `parts` names the checks and costs whose points depend on it, and `points` is their sum. A cost is named like
    `sort work`. `code` is the text of the line.
    """

    target: str
    what: ReviewKind
    file: str
    line: int | None
    reason: str
    points: float
    decision: Decision = "open"
    comment: str = ""
    parts: tuple[str, ...] = ()
    code: str = ""

    def __post_init__(self) -> None:
        if self.points and not self.parts:  # a decision about it could neither give nor take its points
            raise ValueError(f"a review item of {self.points:g} points must name the checks or costs that have them")

    @property
    def is_open(self) -> bool:
        """Whether it is not decided yet."""
        return self.decision == "open"

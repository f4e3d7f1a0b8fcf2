"""A task that two graders share: right solutions for the other grader, and wrong ways of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """A wrong way: the misconception of our module, and the same change in a right solution for the other grader."""

    misconception: str
    found: str
    changed: str


@dataclass(frozen=True)
class Task:
    """One task of the other grader, and the module of ours that asks for the same."""

    name: str
    module: str
    right: Mapping[str, str]
    slips: tuple[Slip, ...]

    def wrong(self, slip: Slip) -> str:
        """Return the wrong submission for the other grader: the first right solution with one change."""
        text = next(iter(self.right.values()))
        if slip.found not in text:
            raise ValueError(f"{self.name}: the solution has no {slip.found!r}")
        return text.replace(slip.found, slip.changed)

"""Another grader in the comparison: its name, the tasks that we share, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from docs.bench.verdicts.task import Task

Submissions = Sequence[tuple[str, str]]  # the name of the task, and the text


@dataclass(frozen=True)
class Peer:
    """A public grader. `about` says, for the page, what it is and when it accepts a submission."""

    name: str
    version: str
    about: str
    tasks: tuple[Task, ...]
    accepts: Callable[[Submissions], list[bool]]

    @property
    def title(self) -> str:
        """Its name with the version."""
        return f"{self.name} {self.version}"

"""What was found: the submissions that count, and a line about each file that says what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grader.submission.identity import Identity
from grader.submission.submission import Submission, SubmissionRef

Fate = Literal["graded", "not counted", "skipped", "not work"]
FATES: tuple[Fate, ...] = ("graded", "not counted", "skipped", "not work")


@dataclass(frozen=True)
class FileLine:
    """What became of one file.

    A skipped file may be a student's work, so a person must look at it. The reason of a graded file says how it was
    read, if that is not certain. `attempt` is its label if several are graded.
    """

    fate: Fate
    path: str
    reason: str = ""
    who: tuple[Identity, ...] = ()
    module: str = ""
    handed_in: float | None = None
    late: bool = False  # by the platform's own mark
    attempt: str = ""


@dataclass(frozen=True)
class FoundSubmissions:
    """The submissions found at some paths, one line for each file, and a note for each archive that was read."""

    handed_in: Sequence[SubmissionRef]
    lines: Sequence[FileLine]
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def submissions(self) -> tuple[Submission, ...]:
        """All submissions, read into memory. Use it for a few, not for a class."""
        return tuple(one.read() for one in self.handed_in)

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """What may be a student's work, but cannot be graded: path and reason."""
        return tuple((line.path, line.reason) for line in self.lines if line.fate == "skipped")

    @property
    def guessed(self) -> tuple[tuple[str, str], ...]:
        """Graded files that were read in a way that is not certain: path and how."""
        return tuple((line.path, line.reason) for line in self.lines if line.fate == "graded" and line.reason)

    @property
    def not_counted(self) -> tuple[tuple[str, str], ...]:
        """Attempts and files that do not count, because another one does: path and reason."""
        return tuple((line.path, line.reason) for line in self.lines if line.fate == "not counted")

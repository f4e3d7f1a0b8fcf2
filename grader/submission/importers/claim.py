"""Claims: what a platform or a folder says about one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from grader.submission.identity import Identity


@dataclass(frozen=True)
class Claim:
    """Whose file it is, when it was handed in, and which attempt it belongs to.

    `file` is the part of the path that the student chose. A platform that numbers attempts gives `order`. `late` is the
    platform's own mark, without a time. `no_file` says why there is nothing to grade in it. What a platform lists was
    handed in, so `listed` files are never ignored, whatever their suffix is.
    """

    who: tuple[Identity, ...]
    file: PurePosixPath
    attempt: str = ""
    order: tuple[int, ...] = ()
    earlier: int = 0  # attempts that the platform knows, but did not export
    handed_in: float | None = None
    late: bool = False
    no_file: str = ""
    listed: bool = False


@dataclass(frozen=True)
class NotWork:
    """A file of the platform itself, not of a student."""

    reason: str


class Importer(Protocol):
    """One platform's way to name the files of a class."""

    @property
    def platform(self) -> str:
        """The name of the platform; empty for plain folders."""

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the platform says about a file; None if it does not name files like this."""

"""Identities and claims: what a folder or a platform says about who handed in a file, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, Protocol

# canvas and moodle are the platform's own numbers. An `id` is the one of the university, a `folder` any of them.
KeyKind = Literal["id", "canvas", "moodle", "email", "github", "name", "folder"]

# What `Identity.label` looks like for the platforms, so that a report's name can be looked up later.
_LABELS: tuple[tuple[re.Pattern[str], tuple[KeyKind, ...]], ...] = (
    (re.compile(r"(.+) \(Canvas (\w+)\)$"), ("name", "canvas")),
    (re.compile(r"(.+) \(Moodle (\d+)\)$"), ("name", "moodle")),
    (re.compile(r"(.+) \(Gradescope (.+)\)$"), ("name", "id")),
    (re.compile(r"(.+) \(Brightspace \d+-\d+\)$"), ("name",)),
    (re.compile(r"(.+) \(Sakai (.+)\)$"), ("name", "id")),
    # The folders and files of a download that was read as something else.
    (re.compile(r"(.+)_(\d+)_assignsubmission_"), ("name", "moodle")),
    (re.compile(r"([^_]+)(?:_late)?_(\d+)_\d+_", re.IGNORECASE), ("name", "canvas")),
)


@dataclass(frozen=True)
class Identity:
    """A student: the name of their reports, and what can be looked up on a roster."""

    label: str
    keys: tuple[tuple[KeyKind, str], ...] = ()

    def all(self, kind: KeyKind) -> list[str]:
        """Return the keys of one kind."""
        return [value for name, value in self.keys if name == kind and value]


def folder_identity(name: str) -> Identity:
    """Return the student that a folder or a file is named after."""
    for pattern, kinds in _LABELS:
        if match := pattern.match(name):
            return Identity(name, (("folder", name), *zip(kinds, match.groups(), strict=True)))
    return Identity(name, (("folder", name),))


@dataclass(frozen=True)
class Claim:
    """Whose file it is, when it was handed in, and which attempt it belongs to.

    `file` is the part of the path that the student chose. A platform that numbers attempts gives `order`. `late` is the
    platform's own mark, without a time. `no_file` says why there is nothing to grade in it. What a platform lists was
    handed in, so `listed` files are never ignored, whatever their suffix is. A `loose` file is in no student's folder.
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
    loose: bool = False


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

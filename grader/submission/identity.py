"""Identities: what a folder or a platform says about the student who handed something in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

# canvas and moodle are the platform's own numbers. An `id` is the one of the university, a `folder` any of them.
KeyKind = Literal["id", "canvas", "moodle", "email", "github", "name", "folder"]

# What `Identity.label` looks like for the platforms, so that a report's name can be looked up later.
_LABELS: tuple[tuple[re.Pattern[str], tuple[KeyKind, ...]], ...] = (
    (re.compile(r"(.+) \(Canvas (\w+)\)$"), ("name", "canvas")),
    (re.compile(r"(.+) \(Moodle (\d+)\)$"), ("name", "moodle")),
    (re.compile(r"(.+) \(Gradescope (.+)\)$"), ("name", "id")),
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

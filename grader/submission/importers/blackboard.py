"""Blackboard: `Week 1_asilva_attempt_2026-10-01-12-00-00_sort.py`, and a .txt about each attempt.

The time has no time zone, so it only orders the attempts. Both the assignment's title and a user name may contain `_`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from grader.submission.identity import Identity
from grader.submission.importers.claim import Claim, NotWork

PLATFORM = "Blackboard"
_DATE = r"\d{4}(?:-\d\d){5}"
ZIP_NAME = re.compile(rf"gradebook_.+_{_DATE}")
_ENTRY = re.compile(rf"(?P<start>[^/]+?)_attempt_(?P<attempt>{_DATE})(?:_(?P<file>[^/]+)|\.txt)")
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.@_-]*")


@dataclass(frozen=True)
class Blackboard:
    """The files of a class that Blackboard exported.

    `title` is the assignment's, with the `_` after it. If it is not known, a user name is what follows the last `_`.
    """

    title: str = ""
    platform: str = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file says."""
        match = _ENTRY.fullmatch(str(name))
        user = self._user(match["start"]) if match else None
        if match is None or user is None or match["file"] in (".", ".."):
            return None
        who = (Identity(user, (("folder", user),)),)
        when = tuple(map(int, match["attempt"].split("-")))
        if match["file"] is None:
            note = "is Blackboard's own note about an attempt"
            return Claim(who, PurePosixPath(name.name), match["attempt"], when, no_file=note, listed=True)
        return Claim(who, PurePosixPath(match["file"]), match["attempt"], when, listed=True)

    def _user(self, start: str) -> str | None:
        if self.title:
            user = start.removeprefix(self.title)
            return user if user != start and _USER.fullmatch(user) else None
        title, _, user = start.rpartition("_")
        return user if title and _USER.fullmatch(user) else None


def blackboard_of(names: Iterable[PurePosixPath]) -> Blackboard:
    """Return the importer for a class with these files.

    If what follows the last `_` is not different for all students, user names have a `_`. Then the title is what all
    files begin with.
    """
    starts = sorted({match["start"] for name in names if (match := _ENTRY.fullmatch(str(name)))})
    users = {start.rpartition("_")[2] for start in starts}
    if len(users) == len(starts):
        return Blackboard()
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(starts[0], starts[-1], strict=False))
    title, separator, _ = "".join(letter for letter, _ in same).rpartition("_")
    return Blackboard(title + separator)

"""Blackboard: `Week 1_asilva_attempt_2026-10-01-12-00-00_sort.py`, and a .txt about each attempt.

The time has no time zone, so it only orders the attempts. Both the assignment's title and a user name may contain `_`.
The .txt says which is the user name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.submission.archive import UnreadableError, read_file
from grader.submission.identity import Claim, Identity, NotWork

PLATFORM = "Blackboard"
_DATE = r"\d{4}(?:-\d\d){5}"
ZIP_NAME = re.compile(rf"gradebook_.+_{_DATE}")
NOTE = re.compile(rf"(?P<start>[^/]+?)_attempt_{_DATE}\.txt")
_ENTRY = re.compile(rf"(?P<start>[^/]+?)_attempt_(?P<attempt>{_DATE})(?:_(?P<file>[^/]+)|\.txt)")
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.@_-]*")
_NAMED = re.compile(r"[^\n]*\((?P<user>[^()\s]+)\)\s*(?:\n|$)")  # the first line: `Name: Ana Silva (asilva)`


@dataclass(frozen=True)
class Blackboard:
    """The files of a class that Blackboard exported.

    `users` has the user names that its notes say, by what stands before `_attempt_`. `titles` are what the title of the
    assignment may be, with the `_` after it: of several, the first is the most likely. If none is known, any `_` may
    end it.
    """

    titles: tuple[str, ...] = ()
    users: dict[str, str] = field(default_factory=dict)
    platform: str = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file says."""
        match = _ENTRY.fullmatch(str(name))
        users = self._users(match["start"]) if match else []
        if match is None or not users or match["file"] in (".", ".."):
            return None
        who = (Identity(users[0], tuple(("folder", user) for user in users)),)
        when = tuple(map(int, match["attempt"].split("-")))
        if match["file"] is None:
            note = "is Blackboard's own note about an attempt"
            return Claim(who, PurePosixPath(name.name), match["attempt"], when, no_file=note, listed=True)
        return Claim(who, PurePosixPath(match["file"]), match["attempt"], when, listed=True)

    def _users(self, start: str) -> list[str]:
        """Return the user names that may be meant, the most likely first."""
        if known := self.users.get(start):
            return [known]
        titles = [title for title in self.titles or _titles(start) if start.startswith(title)]
        return [user for title in titles if _USER.fullmatch(user := start[len(title) :])]


def blackboard_of(names: Iterable[PurePosixPath], folder: Path | None) -> Blackboard:
    """Return the importer for a class with these files.

    Blackboard's notes say the user names. Without them, the title is what all files begin with.
    """
    entries = [match for name in names if (match := _ENTRY.fullmatch(str(name)))]
    starts = sorted({match["start"] for match in entries})
    users = _noted(folder, [match for match in entries if match["file"] is None])
    titles = dict.fromkeys(start[: -len(user)] for start, user in users.items())
    if not titles and starts:  # the longest beginning that all share comes first
        titles = dict.fromkeys(title for title in _titles(starts[0]) if all(one.startswith(title) for one in starts))
    return Blackboard(tuple(titles), users)


def _noted(folder: Path | None, notes: Sequence[re.Match[str]]) -> dict[str, str]:
    """Return the user names that the notes say."""
    users: dict[str, str] = {}
    for note in notes:
        if folder is None:
            break
        try:
            text = read_file(folder / note[0], limit=1 << 20).data.decode("utf-8", "replace")
        except (OSError, UnreadableError):
            continue
        named = _NAMED.match(text)
        if named and note["start"].endswith(f"_{named['user']}"):
            users[note["start"]] = named["user"]
    return users


def _titles(start: str) -> list[str]:
    """Return what a title may be, with the `_` after it: the longest first."""
    ends = [at + 1 for at, letter in enumerate(start) if letter == "_" and at]
    return [start[:end] for end in reversed(ends)]

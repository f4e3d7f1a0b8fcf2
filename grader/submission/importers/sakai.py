"""Sakai: `Silva, Ana(asilva)/Submission attachment(s)/sort.py`, below a folder named after the assignment.

`timestamp.txt` beside that folder has the time. Without folders, the same is the beginning of each file's name. What
the teacher added is in a folder of its own. A group has its name and an internal number instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from grader.submission.archive import UnreadableError, read_file
from grader.submission.identity import Claim, Identity, NotWork

PLATFORM = "Sakai"
ZIP_NAME = re.compile(r"(?!)")  # no name of a zip is certain to be Sakai's
TIMESTAMP = "timestamp.txt"
_WHO = r"(?P<who>[^/]+?\([^/()]+\))"
_ENTRY = re.compile(rf"{_WHO}(?P<end>[/_])Submission attachment\(s\)[/_](?P<file>.+)", re.DOTALL)
_OWN = re.compile(rf"{_WHO}/(?:{re.escape(TIMESTAMP)}|comments\.txt|feedbackText\.html|Feedback Attachment\(s\)/.+)")
_TYPED = re.compile(rf"{_WHO}(?:/[^/]+)?_submissionText\.html")
_GRADES = re.compile(r"grades\.(?:csv|xlsx?)")
_PERSON = re.compile(r"(?P<name>[^();]+,[^();]*)\((?P<id>[^()]+)\)(?:; )?")


@dataclass(frozen=True)
class Sakai:
    """The files of a class that Sakai exported. `folder` has them on this disk; without it, no time is known."""

    folder: Path | None = None
    has_class: bool = False
    platform: str = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file or of its folders says."""
        text = str(name)
        if self.has_class and (_GRADES.fullmatch(text) or _OWN.fullmatch(text)):
            return NotWork("is Sakai's own file, or the teacher's")
        if self.has_class and (match := _TYPED.fullmatch(text)):
            typed = "is text that was typed into Sakai, not a file"
            return Claim(_people(match["who"]), PurePosixPath(name.name), no_file=typed, listed=True)
        match = _ENTRY.fullmatch(text)
        if match is None or ".." in PurePosixPath(match["file"]).parts:
            return None
        when = self._handed_in(match["who"]) if match["end"] == "/" else None
        return Claim(_people(match["who"]), PurePosixPath(match["file"]), handed_in=when, listed=True)

    def _handed_in(self, who: str) -> float | None:
        """Return the time that Sakai wrote, if it has a time zone."""
        if self.folder is None:
            return None
        try:
            text = read_file(self.folder / who / TIMESTAMP, limit=1 << 10).data.decode("ascii", "replace").strip()
            when = datetime.fromisoformat(text)
        except (OSError, UnreadableError, ValueError):
            return None
        return when.timestamp() if when.tzinfo else None


def sakai_of(names: Iterable[PurePosixPath], folder: Path | None) -> Sakai:
    """Return the importer for a class with these files."""
    return Sakai(folder, has_class=any(_ENTRY.fullmatch(str(name)) for name in names))


def _people(who: str) -> tuple[Identity, ...]:
    """Return the people of a folder, `Silva, Ana(asilva); Okafor, Ben(bo)`, or the group that it is named after."""
    found = list(_PERSON.finditer(who))
    if "".join(one[0] for one in found) != who:
        return (Identity(who, (("name", who.rpartition("(")[0].strip()),)),)
    return tuple(
        Identity(f"{one['name'].strip()} (Sakai {one['id']})", (("id", one["id"]), ("name", one["name"].strip())))
        for one in found
    )

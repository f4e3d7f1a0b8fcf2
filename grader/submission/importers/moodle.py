"""Moodle: a folder `Ana Silva_123_assignsubmission_file` for each student, or the same as a prefix of each file.

The number is that of the participant, as in the grading worksheet. A group has the group's name and number. Versions
before 4.1 write `assignsubmission_file_`. The times in the zip are not those of the submissions.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from grader.submission.identity import Claim, Identity, NotWork

PLATFORM = "Moodle"
ZIP_NAME = re.compile(r".+-\d+")
_ENTRY = re.compile(
    r"(?P<name>[^\W_][^_/]*)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_/|/|_)(?P<file>.+)"
)


class Moodle:
    """The files of a class that Moodle exported."""

    platform = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file or of its folder says."""
        match = _ENTRY.fullmatch(str(name))
        if match is None:
            return None
        file = PurePosixPath(match["file"])
        if file.is_absolute() or ".." in file.parts:  # only a student names a file like this
            return None
        keys = Identity(f"{match['name']} (Moodle {match['id']})", (("moodle", match["id"]), ("name", match["name"])))
        typed = "is text that was typed into Moodle, not a file" if match["kind"] == "onlinetext" else ""
        return Claim((keys,), file, no_file=typed, listed=True)

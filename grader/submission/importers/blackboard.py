"""Blackboard: `Week 1_asilva_attempt_2026-10-01-12-00-00_softmax.py`, and a .txt about each attempt.

The time has no time zone, so it only orders the attempts.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from grader.submission.identity import Identity
from grader.submission.importers.claim import Claim, NotWork

PLATFORM = "Blackboard"
_DATE = r"\d{4}(?:-\d\d){5}"
ZIP_NAME = re.compile(rf"gradebook_.+_{_DATE}")
_ENTRY = re.compile(
    rf"[^/]+?_(?P<name>[A-Za-z0-9][A-Za-z0-9.@-]*)_attempt_(?P<attempt>{_DATE})(?:_(?P<file>[^/]+)|\.txt)"
)


class Blackboard:
    """The files of a class that Blackboard exported."""

    platform = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file says."""
        match = _ENTRY.fullmatch(str(name))
        if match is None:
            return None
        if match["file"] is None:
            return NotWork("is Blackboard's own note about an attempt")
        if match["file"] in (".", ".."):
            return None
        when = tuple(map(int, match["attempt"].split("-")))
        who = Identity(match["name"], (("folder", match["name"]),))
        return Claim((who,), PurePosixPath(match["file"]), match["attempt"], when)

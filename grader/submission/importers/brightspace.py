"""Brightspace: a folder `61001-7001 - Ana Silva - Oct 1, 2026 1159 PM` for each submission, or that before each file.

The numbers do not say who the student is, so the name does. The time has no time zone, so it only orders the attempts.
`index.html` is Brightspace's own list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from grader.submission.identity import Claim, Identity, NotWork

PLATFORM = "Brightspace"
_TIME = r"[^/-]*\d[^/-]* \d{3,4}(?: ?[AaPp]\.?[Mm]\.?)?"
ZIP_NAME = re.compile(rf".+ Download {_TIME}")
_ENTRY = re.compile(rf"(?P<numbers>\d+-\d+) - (?P<name>[^/]+?) - (?P<time>{_TIME})(?:/| - )(?P<file>.+)", re.DOTALL)
_CLOCK = re.compile(r"(?P<day>.+) (?P<hour>\d{1,2})(?P<minute>\d\d)(?: ?(?P<half>[ap])\.?m\.?)?", re.IGNORECASE)
_DAYS = ("%b %d, %Y", "%B %d, %Y", "%d %B, %Y", "%d %B %Y", "%d %b, %Y", "%d %b %Y")


@dataclass(frozen=True)
class Brightspace:
    """The files of a class that Brightspace exported. `has_list` says that its own list is among them."""

    has_list: bool = False
    platform: str = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file or of its folder says."""
        if self.has_list and str(name) == "index.html":
            return NotWork("is Brightspace's own list of the submissions")
        match = _ENTRY.fullmatch(str(name))
        if match is None or ".." in PurePosixPath(match["file"]).parts:
            return None
        who = Identity(f"{match['name']} (Brightspace {match['numbers']})", (("name", match["name"]),))
        return Claim((who,), PurePosixPath(match["file"]), match["time"], _order(match["time"]), listed=True)


def brightspace_of(names: Iterable[PurePosixPath], folder: Path | None) -> Brightspace:
    """Return the importer for a class with these files."""
    del folder
    return Brightspace(has_list=any(_ENTRY.fullmatch(str(name)) for name in names))


def _order(time: str) -> tuple[int, ...]:
    """Return a time as numbers that order the attempts; nothing if it is written in another language."""
    match = _CLOCK.fullmatch(time)
    if match is None:
        return ()
    for one in _DAYS:
        try:
            day = datetime.strptime(match["day"], one)
        except ValueError:
            continue
        half = (match["half"] or "").casefold()
        hour = int(match["hour"]) % 12 + 12 * (half == "p") if half else int(match["hour"])
        return day.year, day.month, day.day, hour, int(match["minute"])
    return ()

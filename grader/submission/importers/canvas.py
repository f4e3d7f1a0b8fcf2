"""Canvas: `silvaana_LATE_101_5551_sort-1.py`, all files of a class in one zip without folders.

The name is the student's sortable name in lower case without blanks, then LATE if it was late, the number of the
student, the number of the file, and the name of the file. An anonymous assignment has `anon_x7Q2d_5551_sort.py`.
The times in the zip are those of the download.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from grader.submission.identity import Claim, Identity, NotWork

PLATFORM = "Canvas"
ZIP_NAME = re.compile(r"submissions")
_ENTRY = re.compile(
    r"(?:(?P<name>(?!LATE_|anon_)[^\W_][^_/]*)_)?(?P<late>LATE_)?(?:anon_(?P<anonymous>[^\W_]+)|(?P<id>\d+))_"
    r"(?:(?P<number>\d+)_(?P<file>[^/]+)|(?P<typed>text|link)\.html)"
)
_AGAIN = re.compile(r"-(?P<version>\d{1,4})(?=\.\w+$)")  # the second file of one name is called `sort-1.py`


class Canvas:
    """The files of a class that Canvas exported."""

    platform = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of a file says."""
        match = _ENTRY.fullmatch(str(name))
        if match is None or bool(match["anonymous"]) == bool(match["name"]):
            return None
        who = (_who(match),)
        late = bool(match["late"])
        if match["typed"]:
            what = "a link" if match["typed"] == "link" else "text"
            return Claim(who, name, late=late, no_file=f"is {what} that was typed into Canvas, not a file", listed=True)
        file = PurePosixPath(match["file"])
        if file.name in ("", ".", "..") or len(file.parts) != 1:
            return None
        again = _AGAIN.search(file.name)
        version = int(again["version"]) if again else 0
        return Claim(
            who,
            file.with_name(_AGAIN.sub("", file.name)),
            attempt=f"version {version + 1}" if version else "",
            order=(version, int(match["number"])),
            earlier=version,
            late=late,
            listed=True,
        )


def beginning_of(name: str) -> str:
    """Return what Canvas wrote before the student's own name of a file: it says whose the file is. Empty for others."""
    match = _ENTRY.fullmatch(name)
    return name[: match.start("file")] if match and match["file"] else ""


def _who(match: re.Match[str]) -> Identity:
    if match["anonymous"]:
        return Identity(f"anonymous (Canvas {match['anonymous']})", (("canvas", match["anonymous"]),))
    return Identity(f"{match['name']} (Canvas {match['id']})", (("canvas", match["id"]), ("name", match["name"])))

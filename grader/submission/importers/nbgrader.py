"""nbgrader: `submitted/<student>/<assignment>/warm_up.ipynb` with `timestamp.txt` beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from grader.core.times import TimeError, read_time
from grader.submission.archive import UnreadableError, read_file
from grader.submission.identity import folder_identity
from grader.submission.importers.claim import Claim, NotWork

SUBMITTED = "submitted"  # nbgrader's folder of submissions
STAMP = "timestamp.txt"


class Nbgrader:
    """The files below nbgrader's folder of submissions.

    Only there is the time nbgrader's. Elsewhere a student could have written it.
    """

    platform = "nbgrader"

    def __init__(self, root: str, folder: Path, is_module: Callable[[str], bool]) -> None:
        self.is_submitted = root == SUBMITTED
        self.folder = folder
        self.is_module = is_module

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the folders of a file say."""
        parts = name.parts[1:] if not self.is_submitted and name.parts[0] == SUBMITTED else name.parts
        if len(parts) != 3 or (not self.is_submitted and name.parts[0] != SUBMITTED):
            return None
        student, assignment, file = parts
        if file == STAMP:
            return NotWork("is nbgrader's own note of the time")
        where = self.folder / name.parent
        attempt = "" if self.is_module(assignment) else assignment
        who = (folder_identity(student),)
        when = _stamp(where / STAMP)
        return Claim(who, PurePosixPath(assignment, file), attempt, handed_in=when, listed=True)


def _stamp(path: Path) -> float | None:
    """Return the time in a timestamp file, if there is one and it is plausible."""
    try:
        moment = read_time(read_file(path).data[:100].decode()).timestamp()
    except (UnreadableError, UnicodeDecodeError, TimeError, OSError, OverflowError, ValueError):
        return None
    return moment if 0.0 <= moment < 4e9 else None

"""Sources: a folder, an archive or a file, opened as one list of entries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from grader.submission import archive
from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, FileContent, UnreadableError

Kind = Literal["left out", "hidden", "file", "link"]


@dataclass(frozen=True)
class Entry:
    """One thing in a source, with its readers: nothing is read before it is needed.

    What is not a file has a reason: it was left out when an archive was unpacked, no student hands it in, or it is a
    link to a folder.
    """

    name: PurePosixPath  # in the source; empty if it is outside
    place: Path  # on this disk
    shown: str  # for the instructor
    kind: Kind = "file"
    reason: str = ""

    @property
    def suffix(self) -> str:
        """The ending that says what kind of file it is."""
        return self.name.suffix.lower()

    def data(self) -> bytes:
        """Return its content; nothing if it cannot be read. Reading it later reports the problem."""
        try:
            return archive.read_file(self.place).data
        except (UnreadableError, OSError):
            return b""

    def members(self) -> list[FileContent]:
        """Return the files in one student's zip; UnreadableError or OSError if it cannot be read."""
        return archive.read_archive(archive.read_file(self.place), (SCRIPT, NOTEBOOK, ARCHIVE))

    def modified(self) -> float:
        """Return its own time, if it is plausible: a student can set any number."""
        try:
            moment = self.place.lstat().st_mtime
        except OSError:  # reading the file later reports the problem
            return 0.0
        return moment if 0.0 <= moment < 4e9 else 0.0


@dataclass(frozen=True)
class Source:
    """What is at one path of the command line, or the reason why it cannot be opened."""

    root: int  # the number of the path
    path: str
    name: str
    shown: str  # the path, and the wrapper in it if there is one
    entries: tuple[Entry, ...] = ()
    folder: Path | None = None  # of a class or of one student; None for a single file
    unpacked: bool = False
    note: str = ""  # what it was taken for, if nobody said so
    problem: str = ""

    def folders(self) -> list[str]:
        """Return the folders in it that may be students': not hidden, not a link, not the results of a grading."""
        inside = sorted(path for path in self.folder.iterdir() if path.is_dir()) if self.folder else []
        return [path.name for path in inside if not _is_clutter(path)]


def _is_clutter(folder: Path) -> bool:
    return folder.name.startswith((".", "__")) or folder.is_symlink() or (folder / "journal.jsonl").is_file()

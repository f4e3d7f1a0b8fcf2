"""Sources: a folder, a zip or a tar of a class, opened as the same list of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.submission import class_archive
from grader.submission.archive import MAX_FILES, UnreadableError, is_hidden_name

CLUTTER_FILES = frozenset({"thumbs.db", "desktop.ini"})
HIDDEN = "is not work: a hidden file or folder"


@dataclass(frozen=True)
class SourceFile:
    """One file of a source."""

    name: PurePosixPath  # in the source
    place: Path  # on this disk
    shown: str  # for the instructor


@dataclass(frozen=True)
class OpenedSource:
    """The files of a class or of one student, wherever they came from.

    `left_out` could not be unpacked, and says why. `hidden` are files and folders that no student hands in.
    """

    name: str
    shown: str
    folder: Path
    files: tuple[SourceFile, ...]
    hidden: tuple[tuple[str, str], ...]
    links: tuple[SourceFile, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    unpacked: bool = False

    def shown_path(self, name: PurePosixPath | str) -> str:
        """Return the path of something in the source, for messages."""
        return f"{self.shown}/{name}"


def open_folder(folder: Path, is_wrapper: Callable[[str, Sequence[str]], bool]) -> OpenedSource:
    """Open a folder, or the wrapper in it. Links in it are not followed."""
    inner = _wrapper(folder, is_wrapper)
    if inner is not None:
        return _listed(inner.name, str(folder / inner.name), inner)
    return _listed(folder.resolve().name, str(folder), folder)


def open_archive(path: Path, folder: Path, is_wrapper: Callable[[str, Sequence[str]], bool]) -> OpenedSource:
    """Unpack the zip or tar of a class into a new folder, and open that or the wrapper in it."""
    folder.mkdir(parents=True)
    try:
        left_out = class_archive.unpack(path, folder)
    except UnreadableError as error:
        return OpenedSource(path.name, str(path), folder, (), (), (), ((str(path), str(error)),), unpacked=True)
    left_out = [(f"{path}/{name}", reason) for name, reason in left_out]
    inner = _wrapper(folder, is_wrapper)
    if inner is not None:
        return _listed(inner.name, f"{path}/{inner.name}", inner, tuple(left_out), unpacked=True)
    return _listed(class_archive.stem(path), str(path), folder, tuple(left_out), unpacked=True)


def _wrapper(folder: Path, is_wrapper: Callable[[str, Sequence[str]], bool]) -> Path | None:
    """Return the only thing in a folder, if it is a folder that wraps the files of a platform."""
    inside = [path for path in folder.iterdir() if not is_hidden(path.name)]
    if len(inside) != 1 or inside[0].is_symlink() or not inside[0].is_dir():
        return None
    names = [one.name for one in inside[0].iterdir() if not is_hidden(one.name)]
    return inside[0] if is_wrapper(inside[0].name, names) else None


def is_hidden(name: str) -> bool:
    """Whether a file or folder has a name that only programs give: `.DS_Store`, `__MACOSX`."""
    return is_hidden_name(name) or name.casefold() in CLUTTER_FILES


def _listed(
    name: str, shown: str, folder: Path, left_out: tuple[tuple[str, str], ...] = (), *, unpacked: bool = False
) -> OpenedSource:
    files: list[SourceFile] = []
    hidden: list[tuple[str, str]] = []
    links: list[SourceFile] = []
    for count, (place, is_folder) in enumerate(_walk(folder), 1):
        if count > MAX_FILES * 100:
            raise UnreadableError("has too many files")
        below = PurePosixPath(place.relative_to(folder).as_posix())
        file = SourceFile(below, place, f"{shown}/{below}")
        if is_hidden(place.name):
            hidden.append((file.shown, HIDDEN))
        else:
            (links if is_folder else files).append(file)
    return OpenedSource(name, shown, folder, tuple(files), tuple(hidden), tuple(links), left_out, unpacked)


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield every file, and every folder that is not entered, in order; with whether it is a folder."""
    for parent, folders, files in os.walk(folder, followlinks=False):
        closed = [name for name in folders if is_hidden(name) or Path(parent, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in closed)
        yield from ((Path(parent, name), True) for name in sorted(closed))
        yield from ((Path(parent, name), False) for name in sorted(files))

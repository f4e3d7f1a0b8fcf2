"""OPEN, the first step: what is at a path of the command line?

A folder, an archive of a class, one student's zip or a single file becomes a source: a list of entries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath

from grader.submission import archive, class_archive
from grader.submission.archive import ARCHIVE, MAX_FILES, NOTEBOOK, SCRIPT, UnreadableError, is_hidden_name
from grader.submission.class_archive import Listing
from grader.submission.importers.exports import export_of, is_wrapper, likely_export
from grader.submission.module_names import EXACT, ModuleNames
from grader.submission.name_map import NameMap
from grader.submission.source import Entry, Source

MAX_WRAPPERS = 5
CLUTTER_FILES = frozenset({"thumbs.db", "desktop.ini"})
HIDDEN = "is not work: a hidden file or folder"
LINK = "is a link. Hand in the folder itself"
OF_A_TAR = "If it is a class, add --class-zip. If it is one student's work, unpack it"
SAY_WHICH = "If it is a class, add --class-zip. If it is one student's work, add --student NAME"
NO_STUDENTS_TAR = f"is a tar. {OF_A_TAR}"


@dataclass(frozen=True)
class Search:
    """The options of a search.

    With `student`, everything is the work of that student. With `class_zip`, each archive among the paths is a class.
    Otherwise an archive is a class only if it is the only path, there is a folder `scratch` to unpack it into, and
    beyond doubt a platform exported it. A zip inside a folder or an archive is always one student's work. With
    `file_times`, the times of files are those of the submissions.
    """

    names: ModuleNames
    scratch: Path | None = None
    student: str | None = None
    class_zip: bool = False
    single_path: bool = False
    file_times: bool = False
    name_map: NameMap = field(default_factory=NameMap)


def open_path(search: Search, root: int, path: Path) -> Source:
    """Return what is at one path of the command line."""
    source = Source(root, str(path), path.name, str(path))
    suffix = path.suffix.lower()
    if path.is_dir():
        if suffix in (SCRIPT, NOTEBOOK, ARCHIVE):
            return replace(source, problem="is a folder, not a file")
        return _open_folder(replace(source, name=path.resolve().name), path, path)
    if not path.exists():
        return replace(source, problem="there is no such file or folder")
    if suffix == ARCHIVE or class_archive.is_tar(path):
        return _open_archive(search, replace(source, name=class_archive.stem(path)), path)
    if suffix not in (SCRIPT, NOTEBOOK):
        return replace(source, problem="is not a script, a notebook, a zip or a folder")
    # A path from the instructor may be a link. Links inside folders were handed in and are refused.
    return replace(source, entries=(Entry(PurePosixPath(path.name), path.resolve(), str(path)),))


def _open_archive(search: Search, source: Source, path: Path) -> Source:
    """Open an archive: it is one student's, unless it is said, or beyond doubt, that it is a class."""
    if search.class_zip:
        return _open_class(search, source, path)
    is_tar = class_archive.is_tar(path)
    listing = class_archive.listing(path)
    if search.student is None and listing.sound:  # of any other, reading it says what is wrong
        # Among several archives, each is one student's.
        if search.single_path and (export := export_of(source.name, listing.names)):
            students = len(export.students(listing.names))
            note = f"read as a class of {students} that {export.platform} exported"
            return _open_class(search, replace(source, note=note), path)
        if doubt := _doubt(search.names, path, listing):
            return replace(source, problem=f"{doubt}. {OF_A_TAR if is_tar else SAY_WHICH}")
    if is_tar:
        return replace(source, problem=NO_STUDENTS_TAR)
    return replace(source, entries=(Entry(PurePosixPath(path.name), path, str(path)),))


def _open_class(search: Search, source: Source, path: Path) -> Source:
    """Unpack the archive of a class, and open the folder. Each zip inside it is one student's work."""
    if search.scratch is None:
        raise ValueError("the archive of a class needs a folder to unpack it into")
    folder = search.scratch / str(source.root) / source.name
    folder.mkdir(parents=True)
    return _open_folder(replace(source, unpacked=True), path, folder)


def _open_folder(source: Source, path: Path, folder: Path) -> Source:
    """Open a folder, or the wrapper in it, after the archive at the path was unpacked into it."""
    try:
        left_out = class_archive.unpack(path, folder) if source.unpacked else []
        entries: list[Entry] = []
        while inner := _wrapper(folder):
            entries += [_beside(source.shown, path) for path in sorted(folder.iterdir()) if path != inner]
            source = replace(source, name=inner.name, shown=f"{source.shown}/{inner.name}")
            folder = inner
        entries += [_left_out(source, name, reason) for name, reason in left_out]
        return replace(source, folder=folder, entries=(*entries, *_listed(source.shown, folder)))
    except UnreadableError as error:
        return replace(source, problem=str(error))


def _wrapper(folder: Path) -> Path | None:
    """Return the only thing in a folder, if it is a folder that wraps the files of a platform, or a wrapper of such."""
    only = inside = _only_folder(folder)
    if only is not None and is_wrapper("", [only.name]):
        return None  # it is a student's
    for _ in range(MAX_WRAPPERS):
        if inside is None:
            break
        if is_wrapper(inside.name, [one.name for one in inside.iterdir() if not _is_hidden(one.name)]):
            return only
        inside = _only_folder(inside)
    return None


def _only_folder(folder: Path) -> Path | None:
    """Return the folder that is the only thing in a folder, apart from hidden ones."""
    inside = [path for path in folder.iterdir() if not _is_hidden(path.name)]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink() else None


def _beside(shown: str, path: Path) -> Entry:
    """Return the entry of what is hidden beside a wrapper. It is in no student's folder."""
    return Entry(PurePosixPath(), path, f"{shown}/{path.name}", "hidden", HIDDEN)


def _left_out(source: Source, name: str, reason: str) -> Entry:
    """Return the entry of a member that was not unpacked. Only what is inside the source may be a student's."""
    shown = f"{source.path}/{name}"
    inside = f"{source.shown}/"
    below = PurePosixPath(shown.removeprefix(inside) if shown.startswith(inside) else "")
    return Entry(below, Path(), shown, "left out", reason)


def _listed(shown: str, folder: Path) -> list[Entry]:
    """Return the entries of a folder: hidden ones, files, and links to folders."""
    hidden: list[Entry] = []
    files: list[Entry] = []
    links: list[Entry] = []
    for count, (place, is_folder) in enumerate(_walk(folder), 1):
        if count > MAX_FILES * 100:
            raise UnreadableError("has too many files")
        name = PurePosixPath(place.relative_to(folder).as_posix())
        entry = Entry(name, place, f"{shown}/{name}")
        if _is_hidden(place.name):
            hidden.append(replace(entry, kind="hidden", reason=HIDDEN))
        elif is_folder:
            links.append(replace(entry, kind="link", reason=LINK))
        else:
            files.append(entry)
    return [*hidden, *files, *links]


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield every file, and every folder that is not entered, in order; with whether it is a folder."""
    for parent, folders, files in os.walk(folder, followlinks=False):
        closed = [name for name in folders if _is_hidden(name) or Path(parent, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in closed)
        yield from ((Path(parent, name), True) for name in sorted(closed))
        yield from ((Path(parent, name), False) for name in sorted(files))


def _is_hidden(name: str) -> bool:
    """Whether a file or folder has a name that only programs give: `.DS_Store`, `__MACOSX`."""
    return is_hidden_name(name) or name.casefold() in CLUTTER_FILES


def _doubt(names: ModuleNames, path: Path, listing: Listing) -> str:
    """Return why an archive may not be the work of one student; empty if there is no doubt."""
    zips = [name for name in listing.work if name.suffix.lower() == ARCHIVE]
    if zips:
        return f"has {len(zips)} zip(s) inside ({_some(zips)})"
    if export := likely_export(listing.work):
        return f"has files that are named as in a class that {export.platform} exported ({_some(listing.work)})"
    if class_archive.is_tar(path):
        return ""
    try:
        entries = archive.read_archive(archive.read_file(path))
    except (UnreadableError, OSError):  # reading it again says what is wrong
        return ""
    found = [(entry.path, names.guess(entry.path, partial(bytes, entry.data))) for entry in entries]
    best = {guess.module.name: guess.fit for _, guess in sorted(found, key=lambda one: one[1].fit) if guess.module}
    # One student's files are in one folder, apart from folders of modules, and have the names of modules.
    places = {
        (*names.folders(name), "" if guess.fit >= EXACT else name.stem): name
        for name, guess in found
        if guess.module and guess.fit == best[guess.module.name]
    }
    return f"has work in several places ({_some(sorted(places.values()))})" if len(places) > 1 else ""


def _some(names: Iterable[PurePosixPath]) -> str:
    first, second, *more = [*map(str, names), ""]
    return ", ".join(filter(None, (first, second, "…" if any(more) else "")))

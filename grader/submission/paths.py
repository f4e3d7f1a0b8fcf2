"""The paths of the command line: folders, files, one student's zips, and archives of a class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from grader.submission import archive, class_archive
from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, UnreadableError
from grader.submission.class_archive import Listing, is_tar
from grader.submission.collector import Collector
from grader.submission.identity import folder_identity
from grader.submission.importers.claim import Claim, Importer
from grader.submission.importers.exports import export_of, importers_for, is_wrapper, likely_export
from grader.submission.module_names import EXACT, ModuleNames
from grader.submission.search import Search
from grader.submission.source import OpenedSource, SourceFile, open_archive, open_folder

OF_A_TAR = "If it is a class, add --class-zip. If it is one student's work, unpack it"
SAY_WHICH = "If it is a class, add --class-zip. If it is one student's work, add --student NAME"
NO_STUDENTS_TAR = f"is a tar. {OF_A_TAR}"


def add_path(search: Search, collector: Collector, root: int, path: Path) -> None:
    """Add one path of the command line: a folder, an archive, a script or a notebook."""
    suffix = path.suffix.lower()
    if path.is_dir() and suffix in (SCRIPT, NOTEBOOK, ARCHIVE):
        collector.skip(str(path), "is a folder, not a file")
    elif path.is_dir():
        _add_source(search, collector, root, path, None)
    elif not path.exists():
        collector.skip(str(path), "there is no such file or folder")
    elif suffix == ARCHIVE or is_tar(path):
        _add_archive(search, collector, root, path)
    else:
        _add_file(search, collector, root, path)


def _add_source(search: Search, collector: Collector, root: int, path: Path, unpack_into: Path | None) -> None:
    try:
        source = open_archive(path, unpack_into, is_wrapper) if unpack_into else open_folder(path, is_wrapper)
        importers = _importers(search, collector, source)
        platforms = {one.platform for one in importers if any(one.claim(file.name) for file in source.files)}
        if unpack_into is None and platforms - {"nbgrader"}:
            collector.notes.append((str(path), f"has work that {' and '.join(sorted(platforms))} exported"))
        collector.add_source(root, source, importers)
    except UnreadableError as error:
        collector.skip(str(path), str(error))


def _importers(search: Search, collector: Collector, source: OpenedSource) -> Sequence[Importer]:
    if search.student is not None:
        return ()
    importers, problem = importers_for(source, search.names.is_similar)
    if problem:
        collector.skip(*problem)
    return importers


def _add_file(search: Search, collector: Collector, root: int, path: Path) -> None:
    # A path from the instructor may be a link. Links inside folders were handed in and are refused.
    real = path.resolve()
    below = PurePosixPath(*real.parts[-2:])
    names = search.names
    if path.suffix.lower() not in (SCRIPT, NOTEBOOK):
        collector.skip(str(path), "is not a script, a notebook, a zip or a folder")
        return
    who = search.student or _student_of(names, real)
    # For a single file, --module decides, whatever its name is.
    file = SourceFile(PurePosixPath(path.name), real, str(path))
    collector.add(root, file, Claim((folder_identity(who),), below), forced=names.requested)


def _add_archive(search: Search, collector: Collector, root: int, path: Path) -> None:
    """Add an archive: one student's, unless it is said, or beyond doubt, that it is a class."""
    stem = class_archive.stem(path)
    own = search.student or stem
    listing = class_archive.listing(path)
    if search.class_zip:
        _add_class(search, collector, root, path)
    elif search.student is not None or not listing.sound:
        _add_own(collector, root, path, own)  # reading it says what is wrong
    elif search.single_path and (export := export_of(stem, listing.names)):
        # Among several archives, each is one student's.
        students = len(export.students(listing.names))
        collector.notes.append((str(path), f"read as a class of {students} that {export.platform} exported"))
        _add_class(search, collector, root, path)
    elif doubt := _doubt(search.names, path, listing):
        collector.skip(str(path), f"{doubt}. {OF_A_TAR if is_tar(path) else SAY_WHICH}")
    else:
        _add_own(collector, root, path, own)


def _add_own(collector: Collector, root: int, path: Path, student: str) -> None:
    if is_tar(path):
        collector.skip(str(path), NO_STUDENTS_TAR)
        return
    file = SourceFile(PurePosixPath(path.name), path, str(path))
    who = folder_identity(student)
    collector.add(root, file, Claim((who,), file.name))


def _add_class(search: Search, collector: Collector, root: int, path: Path) -> None:
    """Add the archive of a class. Each zip inside it is one student's work."""
    if search.scratch is None:
        raise ValueError("the archive of a class needs a folder to unpack it into")
    _add_source(search, collector, root, path, search.scratch / str(root) / class_archive.stem(path))


def _doubt(names: ModuleNames, path: Path, listing: Listing) -> str:
    """Return why an archive may not be the work of one student; empty if there is no doubt."""
    zips = [name for name in listing.work if name.suffix.lower() == ARCHIVE]
    if zips:
        return f"has {len(zips)} zip(s) inside ({_some(zips)})"
    if export := likely_export(listing.work):
        return f"has files that are named as in a class that {export.platform} exported ({_some(listing.work)})"
    if is_tar(path):
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


def _student_of(names: ModuleNames, path: Path) -> str:
    """Return whose file one path is: `ana/01_warm_up/warm_up.py`, `ana/warm_up.py` or `ana.py`."""
    if not names.is_similar(path.stem) or path.is_relative_to(names.course.root / "modules"):
        return path.stem
    return next((folder.name for folder in path.parents if not names.is_module(folder.name)), "") or path.stem


def _some(names: Iterable[PurePosixPath]) -> str:
    first, second, *more = [*map(str, names), ""]
    return ", ".join(filter(None, (first, second, "…" if any(more) else "")))

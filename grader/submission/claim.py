"""CLAIM, the second step: who handed in each file of a source, for which module, and when?

Importers say what they know from its name. A file of a student becomes a submitted file if its module is known, or else
a helper. Anything else is a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, FileContent, UnreadableError
from grader.submission.assignment_cells import is_assignment
from grader.submission.found import FileLine
from grader.submission.identity import Claim, Identity, Importer, NotWork, folder_identity
from grader.submission.importers.exports import importers_for
from grader.submission.importers.gradescope import Gradescope
from grader.submission.module_names import EXACT, NBGRADER, SIMILAR, ModuleGuess, ModuleNames
from grader.submission.open import Search
from grader.submission.reading import reading_note
from grader.submission.source import Entry, Source
from grader.submission.submission import Attempt, FilePlace, SubmittedFile

OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
NOT_READ = "is an archive of a kind that is not read. Unpack it into the student's folder"
NOT_CODE = "is not a script or a notebook"
ZIP_IN_ZIP = "is a zip inside a zip, which is not read"


@dataclass(frozen=True)
class Helper:
    """A student's file without a module. It is harmless if it need not be work, such as a helper or a picture.

    `container` is whose folder it may be in: `attn grade ana` finds ana/warm_up.py and ana/utils.py.
    """

    path: str
    reason: str
    who: tuple[Identity, ...]
    harmless: bool
    container: Identity | None = None


@dataclass(frozen=True)
class Claims:
    """What is known about the files of one source. The lines are about files that are not for the next step."""

    files: tuple[SubmittedFile, ...] = ()
    helpers: tuple[Helper, ...] = ()
    lines: tuple[FileLine, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


def claim_files(search: Search, source: Source) -> Claims:
    """Return what is known about the files of a source."""
    notes = [(source.path, source.note)] if source.note else []
    if source.problem:
        return Claims(lines=(FileLine("skipped", source.path, source.problem),), notes=tuple(notes))
    importers: list[Importer] = []
    lines: list[FileLine] = []
    if source.folder is not None and search.student is None:
        importers, problem = importers_for(source, search.names.is_similar)
        lines += [FileLine("skipped", *problem)] if problem else []
        notes += _platform_note(source, importers)
    importers.append(_by_path(search, source))
    found = [one for entry in source.entries for one in _claim_entry(search, source, importers, entry)]
    files = tuple(one for one in found if isinstance(one, SubmittedFile))
    helpers = tuple(one for one in found if isinstance(one, Helper))
    lines += [one for one in found if isinstance(one, FileLine)]
    if source.folder is not None and search.student is None:
        lines += _missing(source, importers)
        noted = [*(line.path for line in lines if line.fate == "skipped"), *(helper.path for helper in helpers)]
        lines += _empty_folders(search.names, source, importers, files, noted)
        helpers = _with_container(source, files, helpers)
    return Claims(files, helpers, tuple(lines), tuple(notes))


class _PlainFolders:
    """Folders that say whose their files are: `<student>/<module>/<file>`, `<student>/<file>`, or `<student>.py`."""

    platform = ""

    def __init__(self, names: ModuleNames, container: str, owner: str | None) -> None:
        self._names = names
        self._container = container
        self._owner = owner  # whose work everything is

    def claim(self, name: PurePosixPath) -> Claim:
        """Return what the folders of a file say: the first that is not a module's is the student's."""
        folders = self._names.folders(name)
        who = self._student(name, folders)
        attempt = "/".join(folders if self._owner is not None else folders[1:])
        loose = self._owner is None and len(name.parts) == 1 and who == self._container
        return Claim((folder_identity(who),), name, attempt, loose=loose)

    def _student(self, name: PurePosixPath, folders: list[str]) -> str:
        if self._owner is not None:
            return self._owner
        if folders:
            return folders[0]
        named_after_module = name.parent.parts or self._names.by_name(PurePosixPath(name.name))[0]
        return self._container if named_after_module else name.stem


@dataclass(frozen=True)
class _SingleFile:
    """A file that the instructor named: whose it is does not depend on what is in it."""

    owner: str
    file: PurePosixPath
    platform: str = ""

    def claim(self, name: PurePosixPath) -> Claim:
        """Return what the path of the file says."""
        del name
        return Claim((folder_identity(self.owner),), self.file)


def _by_path(search: Search, source: Source) -> Importer:
    """Return the importer that knows every file of a source, by its path alone."""
    if source.folder is not None:
        return _PlainFolders(search.names, source.name, search.student)
    (file,) = source.entries
    if file.suffix == ARCHIVE:
        return _SingleFile(search.student or source.name, file.name)
    owner = search.student or _student_of(search.names, file.place)
    return _SingleFile(owner, PurePosixPath(*file.place.parts[-2:]))


def _student_of(names: ModuleNames, path: Path) -> str:
    """Return whose file one path is: `ana/01_warm_up/warm_up.py`, `ana/warm_up.py` or `ana.py`."""
    if not names.is_similar(path.stem) or path.is_relative_to(names.course.root / "modules"):
        return path.stem
    return next((folder.name for folder in path.parents if not names.is_module(folder.name)), "") or path.stem


def _claim(importers: Sequence[Importer], name: PurePosixPath) -> Claim | NotWork:
    """Return what the first importer that knows a file says about it. The last one knows every file."""
    return next(claim for one in importers if (claim := one.claim(name)))


def _owner(importers: Sequence[Importer], name: PurePosixPath) -> tuple[Identity, ...]:
    """Return whose file it is."""
    claim = _claim(importers, name)
    return claim.who if isinstance(claim, Claim) else ()


def _claim_entry(
    search: Search, source: Source, importers: Sequence[Importer], entry: Entry
) -> Iterator[SubmittedFile | Helper | FileLine]:
    """Yield what one entry is: a zip has several files, and a file of a group is each member's."""
    if entry.kind == "hidden":
        yield FileLine("not work", entry.shown, entry.reason)
        return
    if entry.kind != "file":
        inside = entry.name / "file" if entry.kind == "link" else entry.name
        yield FileLine("skipped", entry.shown, entry.reason, _owner(importers, inside) if entry.name.parts else ())
        return
    claim = _claim(importers, entry.name)
    if isinstance(claim, NotWork):
        yield FileLine("not work", entry.shown, claim.reason)
        return
    names = search.names
    # For a single file, --module decides, whatever its name is.
    forced = names.requested if source.folder is None else None
    mapped = () if search.student is not None else search.name_map.find(entry.name, [who.label for who in claim.who])
    if mapped:
        claim = replace(claim, who=tuple(one.student for one in mapped))
        forced = mapped[0].module if mapped[0].is_for_file(entry.name) else forced
        names = ModuleNames(names.course, mapped[0].module) if mapped[0].module else names
    if search.file_times and claim.handed_in is None and not source.unpacked:
        claim = replace(claim, handed_in=entry.modified() or None)
    work = _Work(source.root, entry, claim, bool(mapped))
    if claim.no_file:
        yield Helper(entry.shown, claim.no_file, claim.who, harmless=True)
    elif entry.suffix == ARCHIVE:
        yield from work.of_zip(names)
    elif entry.suffix in OTHER_ARCHIVES:
        yield FileLine("skipped", entry.shown, NOT_READ, claim.who)
    elif entry.suffix in (SCRIPT, NOTEBOOK):
        guess = ModuleGuess(forced, EXACT) if forced else names.guess(claim.file, entry.data)
        yield from work.of_file(guess)
    elif claim.listed:
        yield Helper(entry.shown, NOT_CODE, claim.who, harmless=True)
    else:
        yield FileLine("not work", entry.shown, NOT_CODE, claim.who)


@dataclass(frozen=True)
class _Work:
    """One script, notebook or zip, and what is claimed about it."""

    root: int
    entry: Entry
    claim: Claim
    mapped: bool  # whether --map says whose it is

    def of_zip(self, names: ModuleNames) -> Iterator[SubmittedFile | Helper | FileLine]:
        """Yield the files in one student's zip. Whatever is in it is that student's."""
        entry, who = self.entry, self.claim.who
        try:
            members = entry.members()
            if not members:
                raise UnreadableError("has no file for a module")
        except UnreadableError as error:
            yield FileLine("skipped", entry.shown, str(error), who, names.requested.name if names.requested else "")
            return
        except OSError as error:
            yield FileLine("skipped", entry.shown, f"cannot be read: {error.strerror}", who)
            return
        for member in members:
            if member.path.suffix.lower() == ARCHIVE:
                yield Helper(f"{entry.shown}/{member.path}", ZIP_IN_ZIP, who, harmless=True)
            else:
                yield from self.of_file(names.guess(member.path, partial(bytes, member.data)), member)

    def of_file(self, guess: ModuleGuess, member: FileContent | None = None) -> Iterator[SubmittedFile | Helper]:
        """Yield a script or notebook, alone or in a zip, or a helper if its module is unknown."""
        below = member.path if member else self.claim.file
        shown = f"{self.entry.shown}/{below}" if member else self.entry.shown
        if guess.module is None:
            yield Helper(shown, guess.problem, self.claim.who, guess.is_helper)
            return
        read = partial(bytes, member.data) if member else self.entry.data
        note = reading_note(read()) if below.suffix.lower() == SCRIPT else ""
        named = not member and below.name == guess.module.notebook.name
        fit = NBGRADER if named and is_assignment(read()) else guess.fit
        attempt = self._attempt(self.entry.place.name if member else self.claim.attempt)
        modified = member.modified if member else attempt.arrived
        for who in self.claim.who:
            location = FilePlace(self.entry.place, below, member is not None, shown)
            yield SubmittedFile(
                *(who, guess.module, location, attempt, modified, fit),
                whose="mapped" if self.mapped else "loose" if self.claim.loose and not member else "named",
                note=note,
            )

    def _attempt(self, name: str) -> Attempt:
        claim = self.claim
        arrived = self.entry.modified()
        return Attempt(name, self.root, arrived, claim.handed_in, claim.late, claim.order, claim.earlier)


def _platform_note(source: Source, importers: Sequence[Importer]) -> list[tuple[str, str]]:
    """Say which platforms exported what is in a folder. An archive was already said to be an export."""
    names = [entry.name for entry in source.entries if entry.kind == "file"]
    platforms = {one.platform for one in importers if any(map(one.claim, names))}
    if source.unpacked or not platforms - {"nbgrader"}:
        return []
    return [(source.path, f"has work that {' and '.join(sorted(platforms))} exported")]


def _missing(source: Source, importers: Sequence[Importer]) -> Iterator[FileLine]:
    """Yield the submissions that a platform lists and did not export."""
    names = [entry.name for entry in source.entries if entry.kind == "file"]
    for one in importers:
        for name, who in one.missing(names).items() if isinstance(one, Gradescope) else ():
            yield FileLine(
                "skipped", f"{source.shown}/{name}", f"is in the list of {one.platform}, but has no files", who
            )


def _empty_folders(
    names: ModuleNames,
    source: Source,
    importers: Sequence[Importer],
    files: Sequence[SubmittedFile],
    noted: Sequence[str],
) -> Iterator[FileLine]:
    """Yield the folders without work, if others have some: in a class, every folder should have it."""
    inside = source.folders()
    assert source.folder is not None
    with_work = {file.location.place.relative_to(source.folder).parts[0] for file in files}
    if not with_work & set(inside):
        return
    for name in inside:
        start = f"{source.shown}/{name}"
        explained = any(path == start or path.startswith(f"{start}/") for path in noted)
        if name not in with_work and not explained and not names.is_module(name):
            yield FileLine("skipped", start, "has nothing to grade", _owner(importers, PurePosixPath(name, "file")))


def _with_container(source: Source, files: Sequence[SubmittedFile], helpers: Sequence[Helper]) -> tuple[Helper, ...]:
    """If a source is one student's folder, the files beside the work may be that student's, too."""
    beside = [file.who for file in files if file.location.place.parent == source.folder and file.fit >= SIMILAR]
    container = next((who for who in beside if who.label == source.name), None)
    return tuple(
        replace(helper, container=container) if helper.path.rpartition("/")[0] == source.shown else helper
        for helper in helpers
    )

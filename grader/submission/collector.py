"""The collector: turns the files of opened sources into submitted files, and notes what the others are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath

from grader.course.module import Module
from grader.submission import archive
from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, FileContent, UnreadableError
from grader.submission.file_lines import FileLine
from grader.submission.identity import Identity
from grader.submission.importers.claim import Claim, Importer, NotWork
from grader.submission.importers.gradescope import Gradescope
from grader.submission.importers.plain import PlainFolders
from grader.submission.module_names import EXACT, NBGRADER, SIMILAR, ModuleGuess, ModuleNames
from grader.submission.released_cells import is_assignment
from grader.submission.search import Search
from grader.submission.source import OpenedSource, SourceFile
from grader.submission.submission import SubmittedFile

OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
NOT_READ = "is an archive of a kind that is not read. Unpack it into the student's folder"
NOT_CODE = "is not a script or a notebook"


@dataclass(frozen=True)
class Helper:
    """A student's file without a module. It is harmless if it need not be work, such as a helper or a picture."""

    path: str
    reason: str
    who: tuple[Identity, ...]
    harmless: bool
    container: Identity | None = (
        None  # whose folder it may be in: `attn grade ana` finds ana/warm_up.py and ana/utils.py
    )


@dataclass
class Collector:
    """Everything that was found so far."""

    search: Search
    files: list[SubmittedFile] = field(default_factory=list)
    lines: list[FileLine] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def names(self) -> ModuleNames:
        """The modules of the course."""
        return self.search.names

    def add_source(self, root: int, source: OpenedSource, importers: Sequence[Importer]) -> None:
        """Add the files of a folder or of an archive that was unpacked."""
        importers = (*importers, PlainFolders(self.names, source.name, self.search.student))
        before = len(self.files), len(self.helpers)
        for path, reason in source.left_out:
            inside = path.startswith(f"{source.shown}/")
            name = PurePosixPath(path.removeprefix(f"{source.shown}/"))
            self.skip(path, reason, _owner(importers, name) if inside else ())
        self.lines += [FileLine("not work", path, reason) for path, reason in source.hidden]
        for file in source.files:
            self.add(root, file, _claim(importers, file.name), unpacked=source.unpacked)
        for link in source.links:
            self.skip(link.shown, "is a link. Hand in the folder itself", _who(importers, link.name))
        if self.search.student is None:
            self._note_missing(source, importers)
            self._note_empty_folders(source, importers, before)
            self._note_container(source, before)

    def add(
        self,
        root: int,
        file: SourceFile,
        claim: Claim | NotWork,
        *,
        forced: Module | None = None,
        unpacked: bool = False,
    ) -> None:
        """Add one file with what is known about it. `forced` is its module, whatever its name is."""
        if isinstance(claim, NotWork):
            self.lines.append(FileLine("not work", file.shown, claim.reason))
            return
        labels = [who.label for who in claim.who]
        mapped = () if self.search.student is not None else self.search.name_map.find(file.name, labels)
        if mapped:
            claim = replace(claim, who=tuple(one.student for one in mapped))
            forced = mapped[0].module if mapped[0].is_for_file(file.name) else forced
        names = ModuleNames(self.names.course, mapped[0].module) if mapped and mapped[0].module else self.names
        if self.search.file_times and claim.handed_in is None and not unpacked:
            claim = replace(claim, handed_in=modified_at(file.place) or None)
        suffix = file.name.suffix.lower()
        if claim.no_file:
            self.helpers.append(Helper(file.shown, claim.no_file, claim.who, harmless=True))
        elif suffix == ARCHIVE:
            self._add_zip(root, file, claim, names)
        elif suffix in OTHER_ARCHIVES:
            self.skip(file.shown, NOT_READ, claim.who)
        elif suffix not in (SCRIPT, NOTEBOOK) and claim.listed:
            self.helpers.append(Helper(file.shown, NOT_CODE, claim.who, harmless=True))
        elif suffix not in (SCRIPT, NOTEBOOK):
            self.lines.append(FileLine("not work", file.shown, NOT_CODE, claim.who))
        else:
            guess = ModuleGuess(forced, EXACT) if forced else names.guess(claim.file, partial(_read, file.place))
            self._add_work(root, file, claim, guess, claim.file, mapped=bool(mapped))

    def _add_work(
        self,
        root: int,
        file: SourceFile,
        claim: Claim,
        guess: ModuleGuess,
        below: PurePosixPath,
        member: FileContent | None = None,
        *,
        mapped: bool = False,
    ) -> None:
        """Add a script or notebook, alone or in a zip, or note that its module is unknown."""
        shown = f"{file.shown}/{below}" if member else file.shown
        if guess.module is None:
            self.helpers.append(Helper(shown, guess.problem, claim.who, guess.is_helper))
            return
        arrived = modified_at(file.place)
        nbgrader = not member and below.name == guess.module.notebook.name and is_assignment(_read(file.place))
        self.files += [
            SubmittedFile(
                who=who,
                module=guess.module,
                below=below,
                place=file.place,
                member=member is not None,
                modified=member.modified if member else arrived,
                arrived=arrived,
                handed_in=claim.handed_in,
                attempt=file.place.name if member else claim.attempt,
                root=root,
                fit=NBGRADER if nbgrader else guess.fit,
                order=claim.order,
                late=claim.late,
                earlier=claim.earlier,
                shown=shown,
                mapped=mapped,
            )
            for who in claim.who
        ]

    def _add_zip(self, root: int, file: SourceFile, claim: Claim, names: ModuleNames) -> None:
        """Add one student's zip. Whatever is in it is that student's."""
        try:
            entries = archive.read_archive(archive.read_file(file.place), (SCRIPT, NOTEBOOK, ARCHIVE))
        except UnreadableError as error:
            self._refuse(root, file, claim, names, str(error))
            return
        except OSError as error:
            self.skip(file.shown, f"cannot be read: {error.strerror}", claim.who)
            return
        if not entries:
            self._refuse(root, file, claim, names, "has no file for a module")
        for entry in entries:
            if entry.path.suffix.lower() == ARCHIVE:
                shown = f"{file.shown}/{entry.path}"
                self.helpers.append(Helper(shown, "is a zip inside a zip, which is not read", claim.who, harmless=True))
            else:
                guess = names.guess(entry.path, partial(bytes, entry.data))
                self._add_work(root, file, claim, guess, entry.path, entry)

    def skip(self, path: str, reason: str, who: tuple[Identity, ...] = ()) -> None:
        """Note something that may be work and cannot be graded."""
        self.lines.append(FileLine("skipped", path, reason, who))

    def _refuse(self, root: int, file: SourceFile, claim: Claim, names: ModuleNames, reason: str) -> None:
        """Keep a bad zip in the class list if its module is known. Otherwise skip it."""
        if names.requested is None:
            self.skip(file.shown, reason, claim.who)
            return
        below = PurePosixPath(file.place.name)
        self._add_work(root, file, claim, ModuleGuess(names.requested), below)
        bad = [replace(one, problem=f"{below} {reason}", attempt=below.name) for one in self.files[-len(claim.who) :]]
        self.files[-len(claim.who) :] = bad

    def _note_container(self, source: OpenedSource, before: tuple[int, int]) -> None:
        """If a source is one student's folder, the files beside the work may be that student's, too."""
        own = [
            file.who for file in self.files[before[0] :] if file.place.parent == source.folder and file.fit >= SIMILAR
        ]
        container = next((who for who in own if who.label == source.name), None)
        for number, helper in enumerate(self.helpers[before[1] :], before[1]):
            if container is not None and helper.path.rpartition("/")[0] == source.shown:
                self.helpers[number] = replace(helper, container=container)

    def _note_missing(self, source: OpenedSource, importers: Sequence[Importer]) -> None:
        """Note the submissions that a platform lists and did not export."""
        for one in importers:
            found = one.missing(file.name for file in source.files) if isinstance(one, Gradescope) else {}
            for name, who in found.items():
                self.skip(source.shown_path(name), f"is in the list of {one.platform}, but has no files", who)

    def _note_empty_folders(self, source: OpenedSource, importers: Sequence[Importer], before: tuple[int, int]) -> None:
        """In a class, every folder should have work. Note those that have none."""
        inside = sorted(path.name for path in source.folder.iterdir() if path.is_dir() and not _is_clutter(path))
        places = [file.place for file in self.files[before[0] :]]
        with_work = {place.relative_to(source.folder).parts[0] for place in places}
        noted = [line.path for line in self.lines if line.fate == "skipped"]
        noted += [helper.path for helper in self.helpers[before[1] :]]
        if not with_work & set(inside):
            return
        for name in inside:
            start = source.shown_path(name)
            explained = any(path == start or path.startswith(f"{start}/") for path in noted)
            if name not in with_work and not explained and not self.names.is_module(name):
                self.skip(start, "has nothing to grade", _who(importers, PurePosixPath(name)))


def _claim(importers: Sequence[Importer], name: PurePosixPath) -> Claim | NotWork:
    """Return what the first importer that knows a file says about it. The last one knows every file."""
    return next(claim for one in importers if (claim := one.claim(name)))


def _who(importers: Sequence[Importer], folder: PurePosixPath) -> tuple[Identity, ...]:
    """Return whose folder it is."""
    return _owner(importers, folder / "file")


def _owner(importers: Sequence[Importer], name: PurePosixPath) -> tuple[Identity, ...]:
    """Return whose file it is."""
    claim = _claim(importers, name)
    return claim.who if isinstance(claim, Claim) else ()


def modified_at(path: Path) -> float:
    """Return the time of a file, if it is plausible: a student can set any number."""
    try:
        moment = path.lstat().st_mtime
    except OSError:  # reading the file later reports the problem
        return 0.0
    return moment if 0.0 <= moment < 4e9 else 0.0


def _is_clutter(folder: Path) -> bool:
    """Whether a folder in a class is not a student's: hidden, made by macOS, a link, or results of a grading."""
    return folder.name.startswith((".", "__")) or folder.is_symlink() or (folder / "journal.jsonl").is_file()


def _read(path: Path) -> bytes:
    """Return the content of a file; nothing if it cannot be read. Reading it later reports the problem."""
    try:
        return archive.read_file(path).data
    except (UnreadableError, OSError):
        return b""

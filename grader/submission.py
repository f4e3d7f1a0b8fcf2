"""Submissions: what each student handed in for each module, found in files, zips and folders."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader import archive
from grader.archive import ARCHIVE, NOTEBOOK, SCRIPT, Entry, UnreadableError
from grader.course import Course
from grader.module import Module
from grader.notebook import NotebookError, read_cells


@dataclass(frozen=True)
class Source:
    """One file of a student's: the cells of a notebook, or a script as its only cell."""

    file: str
    cells: tuple[str, ...]
    notebook: bool


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one module, with their other modules beside it (slug → source)."""

    student: str
    module: str
    file: str
    sources: Mapping[str, Source]
    problem: str = ""


@dataclass(frozen=True)
class Found:
    """The submissions at some paths, and what was passed over, with the reason."""

    submissions: tuple[Submission, ...]
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Piece:
    """One file whose student and module are known, or the reason it could not be read."""

    student: str
    module: Module
    entry: Entry
    fit: int  # 2 if the file is named after the module, 1 if its folder is, 0 if only --module says so
    problem: str = ""


@dataclass
class _Finder:
    course: Course
    wanted: Module | None
    pieces: list[_Piece] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Take one path of the command line: a folder, a zip, a script or a notebook."""
        if path.is_dir():
            self.add_folder(path)
        elif not path.exists():
            self.skipped.append((str(path), "there is no such file or folder"))
        elif path.suffix.lower() == ARCHIVE:
            self.add_archive(path, path.stem)
        else:
            # The name an instructor gave may be a link of their own; a link handed in is refused in folders.
            real = path.resolve()
            self.add_file(real, self.student_of_file(real), PurePosixPath(*real.parts[-2:]))

    def add_folder(self, folder: Path) -> None:
        try:
            for path in archive.walk(folder):
                below = PurePosixPath(path.relative_to(folder).as_posix())
                student = self.student(below, folder.resolve().name)
                if path.suffix.lower() == ARCHIVE:
                    self.add_archive(path, student)
                else:
                    self.add_file(path, student, below)
        except UnreadableError as error:
            self.skipped.append((str(folder), str(error)))

    def add_file(self, path: Path, student: str, below: PurePosixPath) -> None:
        module, fit = self.module(below)
        if module is None:
            reason = "its name is not that of a module; say which it is with --module"
            self.skipped.append((str(path), reason))
            return
        try:
            entry = archive.read_file(path)
            self.pieces.append(_Piece(student, module, Entry(below, entry.data, entry.modified), fit))
        except UnreadableError as error:
            self.pieces.append(_Piece(student, module, Entry(below, b"", 0.0), fit, f"{below.name} {error}"))

    def add_archive(self, path: Path, student: str) -> None:
        """Take a zip: one student's, unless its files lie in several folders that are no modules."""
        try:
            entries = archive.read_archive(archive.read_file(path))
        except UnreadableError as error:
            self.refuse(path, student, str(error))
            return
        students = {self.student(entry.path, student) for entry in entries}
        known = False
        for entry in entries:
            module, fit = self.module(entry.path)
            if module is not None:
                known = True
                owner = self.student(entry.path, student) if len(students) > 1 else student
                self.pieces.append(_Piece(owner, module, entry, fit))
        if not known:
            self.refuse(path, student, "holds no file of a module")

    def refuse(self, path: Path, student: str, reason: str) -> None:
        """Keep a bad archive in the class list if its module is known, else say that it was passed over."""
        if self.wanted is None:
            self.skipped.append((str(path), reason))
            return
        entry = Entry(PurePosixPath(path.name), b"", 0.0)
        self.pieces.append(_Piece(student, self.wanted, entry, 0, f"{path.name} {reason}"))

    def module(self, path: PurePosixPath) -> tuple[Module | None, int]:
        """Return the module a path belongs to, by its own name or a folder's, and how well it fits."""
        for fit, names in ((2, (path.stem,)), (1, path.parent.parts[::-1])):
            for module in self.course.modules:
                if module.name in names or module.slug in names:
                    return module, fit
        return self.wanted, 0

    def student(self, path: PurePosixPath, container: str) -> str:
        """Return whose file this is: the first folder that is no module's, else the file or its container."""
        folders = [part for part in path.parent.parts if not self.is_module(part)]
        if folders:
            return folders[0]
        return container if path.parent.parts or self.is_module(path.stem) else path.stem

    def student_of_file(self, path: Path) -> str:
        """Return whose file a single path is: `ana/01_softmax/softmax.py`, `ana/softmax.py` or `ana.py`."""
        if not self.is_module(path.stem) or path.is_relative_to(self.course.root / "modules"):
            return path.stem
        return next((folder.name for folder in path.parents if not self.is_module(folder.name)), "") or path.stem

    def is_module(self, name: str) -> bool:
        """Whether a folder or file is named after a module, or after the folder they are kept in."""
        return name == "modules" or any(name in (module.name, module.slug) for module in self.course.modules)


def find_submissions(course: Course, paths: Iterable[Path], module: Module | None = None) -> Found:
    """Return what is to be graded at some paths; with `module`, only that one, whatever its files' names."""
    finder = _Finder(course, module)
    for path in paths:
        finder.add(path)
    submissions = list(_submissions(finder.pieces))
    if module is not None:
        submissions = [submission for submission in submissions if submission.module == module.name]
    submissions.sort(key=lambda submission: (submission.module, submission.student))
    return Found(tuple(submissions), tuple(finder.skipped))


def _submissions(pieces: list[_Piece]) -> Iterator[Submission]:
    by_student: dict[str, dict[str, _Piece]] = {}
    for piece in pieces:
        theirs = by_student.setdefault(piece.student, {})
        theirs[piece.module.name] = _newer(theirs.get(piece.module.name), piece)
    for student, theirs in by_student.items():
        sources: dict[str, Source] = {}
        problems: dict[str, str] = {}
        for name, piece in theirs.items():
            try:
                if piece.problem:
                    raise UnreadableError(piece.problem)
                sources[piece.module.slug] = _source(piece.entry)
            except UnreadableError as error:
                problems[name] = str(error)
        for name, piece in theirs.items():
            yield Submission(student, name, piece.entry.path.name, sources, problems.get(name, ""))


def _newer(one: _Piece | None, other: _Piece) -> _Piece:
    """Of two files for one module the better named counts, then the one changed last, then the script."""
    if one is None:
        return other
    return max(one, other, key=lambda it: (it.fit, it.entry.modified, it.entry.path.suffix == SCRIPT))


def _source(entry: Entry) -> Source:
    name = entry.path.name
    try:
        if entry.path.suffix.lower() == NOTEBOOK:
            return Source(name, read_cells(entry.data), notebook=True)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(entry.data).readline)
        return Source(name, (entry.data.decode(encoding),), notebook=False)
    except NotebookError as error:
        raise UnreadableError(f"{name}: {error}") from None
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise UnreadableError(f"{name} is not UTF-8 text; save it as UTF-8") from None

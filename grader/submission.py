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
from grader.module import CourseError, Module
from grader.notebook import NotebookError, read_cells
from grader.work import own_file

# What a script may declare: plain encodings, none of those that transform text or take their time over it.
ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso-8859-1", "latin-1", "cp1252")


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
    """The submissions at some paths; what could not be graded, and what was passed over, each with the reason."""

    submissions: tuple[Submission, ...]
    refused: tuple[tuple[str, str], ...]
    passed_over: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Piece:
    """One file whose student and module are known, or the reason it could not be read."""

    student: str
    module: Module
    entry: Entry
    origin: str
    root: int  # which path of the command line it was found at
    fit: int  # 2 if the file is named after the module, 1 if its folder is, 0 if only --module says so
    problem: str = ""


@dataclass
class _Finder:
    course: Course
    wanted: Module | None
    root: int = 0
    pieces: list[_Piece] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Take one path of the command line: a folder, a zip, a script or a notebook."""
        if path.is_dir() and path.suffix.lower() in (SCRIPT, NOTEBOOK, ARCHIVE):
            self.refused.append((str(path), "is a folder, not a file"))
        elif path.is_dir():
            self.add_folder(path)
        elif not path.exists():
            self.refused.append((str(path), "there is no such file or folder"))
        elif path.suffix.lower() == ARCHIVE:
            self.add_archive(path, path.stem, may_be_class=True)
        else:
            # The name an instructor gave may be a link of their own; a link handed in is refused in folders.
            real = path.resolve()
            below = PurePosixPath(*real.parts[-2:])
            module, fit = (self.wanted, 2) if self.wanted else self.module(below)
            if module is None:
                reason = "its name is not that of a module; say which it is with --module"
                self.refused.append((str(path), reason))
            else:
                self.add_file(real, self.student_of_file(real), below, module, fit)

    def add_folder(self, folder: Path) -> None:
        before = len(self.pieces)
        try:
            for path in archive.walk(folder):
                below = PurePosixPath(path.relative_to(folder).as_posix())
                student = self.student(below, folder.resolve().name)
                module, fit = self.module(below)
                if path.suffix.lower() == ARCHIVE:
                    # Whose it is, the folder says: what a student puts into a zip must not speak for another.
                    self.add_archive(path, student, may_be_class=False)
                elif module is None:
                    self.passed_over.append((str(path), "its name is not that of a module"))
                else:
                    self.add_file(path, student, below, module, fit)
        except UnreadableError as error:
            self.refused.append((str(folder), str(error)))
        students = {piece.student for piece in self.pieces[before:]}
        inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        if students & set(inside):  # a class: whoever has a folder should have a submission
            for name in (name for name in inside if name not in students and not self.is_module(name)):
                self.refused.append((str(folder / name), "there is nothing to grade in it"))

    def add_file(self, path: Path, student: str, below: PurePosixPath, module: Module, fit: int) -> None:
        try:
            entry, problem = archive.read_file(path), ""
        except UnreadableError as error:
            entry, problem = Entry(below, b"", 0.0), f"{below.name} {error}"
        placed = Entry(below, entry.data, entry.modified)
        self.pieces.append(_Piece(student, module, placed, str(path), self.root, fit, problem))

    def add_archive(self, path: Path, student: str, *, may_be_class: bool) -> None:
        """Take a zip: one student's, unless it may be a class and holds one module in several students' folders."""
        try:
            entries = archive.read_archive(archive.read_file(path))
        except UnreadableError as error:
            self.refuse(path, student, str(error))
            return
        found = [(module, fit, entry) for entry in entries for module, fit in [self.module(entry.path)] if module]
        owners = {(module.name, self.student(entry.path, student)) for module, fit, entry in found if fit == 2}
        is_class = may_be_class and len(owners) > len({name for name, _ in owners})
        for module, fit, entry in found:
            owner = self.student(entry.path, student) if is_class else student
            self.pieces.append(_Piece(owner, module, entry, f"{path}/{entry.path}", self.root, fit))
        if not found:
            self.refuse(path, student, "holds no file of a module")

    def refuse(self, path: Path, student: str, reason: str) -> None:
        """Keep a bad archive in the class list if its module is known, else say that it could not be graded."""
        if self.wanted is None:
            self.refused.append((str(path), reason))
            return
        entry = Entry(PurePosixPath(path.name), b"", 0.0)
        self.pieces.append(_Piece(student, self.wanted, entry, str(path), self.root, 0, f"{path.name} {reason}"))

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
    for finder.root, path in enumerate(paths):
        finder.add(path)
    chosen: dict[str, dict[str, _Piece]] = {}
    for piece in finder.pieces:
        theirs = chosen.setdefault(piece.student, {})
        rival = theirs.get(piece.module.name)
        theirs[piece.module.name] = _newer(rival, piece)
        if rival is not None:
            loser = piece if theirs[piece.module.name] is rival else rival
            reason = f"{theirs[piece.module.name].origin} counts for {piece.student} instead"
            # Within one class folder that is the rule for drafts; across two it may be two people of one name.
            apart = loser.root != theirs[piece.module.name].root
            (finder.refused if apart else finder.passed_over).append((loser.origin, reason))
    submissions = [
        submission
        for student, theirs in chosen.items()
        for submission in _submissions(student, theirs)
        if module is None or submission.module == module.name
    ]
    submissions.sort(key=lambda submission: (submission.module, submission.student))
    return Found(tuple(submissions), tuple(finder.refused), tuple(finder.passed_over))


def own_submission(course: Course, module: Module) -> Submission:
    """Return a student's own work in their course or bundle: one module, with their others beside it."""
    files = {other.name: path for other in course.modules if (path := own_file(other)).is_file()}
    if module.name not in files:
        mend = f"`attn reset {module.slug}` puts the stub back"
        raise CourseError(module.stub, "", "is not there, or is no file", mend, usage=True)
    finder = _Finder(course, None)
    for other in course.modules:
        if other.name in files:
            path = files[other.name]
            finder.add_file(path.resolve(), "you", PurePosixPath(path.name), other, 2)
    pieces = {piece.module.name: piece for piece in finder.pieces}
    return next(one for one in _submissions("you", pieces) if one.module == module.name)


def _submissions(student: str, pieces: Mapping[str, _Piece]) -> Iterator[Submission]:
    """Yield a student's submissions, each with all the sources that could be read."""
    sources: dict[str, Source] = {}
    problems: dict[str, str] = {}
    for name, piece in pieces.items():
        try:
            if piece.problem:
                raise UnreadableError(piece.problem)
            sources[piece.module.slug] = _source(piece.entry)
        except UnreadableError as error:
            problems[name] = str(error)
    for name, piece in pieces.items():
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
        if encoding not in ENCODINGS:
            raise LookupError(encoding)
        return Source(name, (entry.data.decode(encoding),), notebook=False)
    except NotebookError as error:
        raise UnreadableError(f"{name}: {error}") from None
    except (SyntaxError, UnicodeError, LookupError):
        raise UnreadableError(f"{name} is not UTF-8 text; save it as UTF-8") from None

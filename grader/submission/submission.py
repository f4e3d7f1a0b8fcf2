"""Submissions: what one student handed in for one module, where it lies and as it is read."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.course.notebook import NotebookError, read_cells
from grader.submission import archive
from grader.submission.archive import NOTEBOOK, FileContent, UnreadableError
from grader.submission.own_file import own_file
from grader.submission.released_cells import given_to_students, is_assignment

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
    """What one student handed in for one module, with their other modules beside it (slug → source).

    `lost` says what became of the machine that should have graded it, where that is to be told instead of a verdict.
    """

    student: str
    module: str
    file: str
    sources: Mapping[str, Source]
    problem: str = ""
    lost: str = ""


@dataclass(frozen=True)
class SubmittedFile:
    """One file whose student and module are known, not read yet; or the reason it cannot be."""

    student: str
    module: Module
    below: PurePosixPath  # its path below the folder or archive
    place: Path  # the file, or the zip it is in
    member: bool  # whether it is in a zip
    modified: float
    handed_in: float | None  # None if nobody knows: the times inside a zip are the word of whoever made it
    attempt: str  # what tells it from other work of the student's for the module
    root: int  # which path of the command line it was found at
    fit: int  # 3: nbgrader's notebook, 2: a file named after the module, 1: its folder is, 0: only --module says so
    problem: str = ""

    @property
    def origin(self) -> str:
        """Where it is, in words."""
        return f"{self.place}/{self.below}" if self.member else str(self.place)

    def read(self) -> Source:
        """Return its content, or say for the student why there is none."""
        if self.problem:
            raise UnreadableError(self.problem)
        try:
            entry = archive.read_file(self.place)
            alone = [FileContent(self.below, entry.data, entry.modified)]
            found = archive.read_archive(entry, only=self.below) if self.member else alone
        except UnreadableError as error:
            raise UnreadableError(f"{self.place.name if self.member else self.below.name} {error}") from None
        if not found:
            raise UnreadableError(f"{self.below.name} is no longer in {self.place.name}")
        return _source(found[0], self.module)


@dataclass(frozen=True)
class SubmissionRef:
    """A submission where it lies: light, so that a whole class can be held; read when its turn comes."""

    piece: SubmittedFile
    beside: tuple[SubmittedFile, ...]  # the student's other modules
    attempts: int = 1  # how many the student has for this module
    attempt: str = ""  # set where several are to be graded

    @property
    def student(self) -> str:
        """Whose it is."""
        return self.piece.student

    @property
    def module(self) -> str:
        """The name of the module it is for."""
        return self.piece.module.name

    def read(self) -> Submission:
        """Return the submission with all its sources that can be read."""
        sources: dict[str, Source] = {}
        problem = lost = ""
        for piece in (*self.beside, self.piece):
            try:
                sources[piece.module.slug] = piece.read()
            except UnreadableError as error:
                problem = str(error) if piece is self.piece else problem
            except OSError as error:  # of the disk or the network: nobody's verdict, and no reason to stop the class
                lost = f"{piece.origin} cannot be read: {error.strerror or error}"
        return Submission(self.student, self.module, self.piece.below.name, sources, problem, lost)


def own_submission(course: Course, module: Module) -> Submission:
    """Return a student's own work in their course or bundle: one module, with their others beside it."""
    files = {other.name: path for other in course.modules if (path := own_file(other)).is_file()}
    if module.name not in files:
        mend = f"`attn reset {module.slug}` puts the stub back"
        raise CourseError(module.stub, "", "is not there, or is no file", mend, usage=True)
    pieces = {other.name: _own_piece(other, files[other.name]) for other in course.modules if other.name in files}
    piece = pieces.pop(module.name)
    return SubmissionRef(piece, tuple(pieces.values())).read()


def _own_piece(module: Module, path: Path) -> SubmittedFile:
    return SubmittedFile("you", module, PurePosixPath(path.name), path.resolve(), False, 0.0, 0.0, "", 0, 2)


def _source(entry: FileContent, module: Module) -> Source:
    name = entry.path.name
    try:
        if entry.path.suffix.lower() == NOTEBOOK:
            given = given_to_students(module) if is_assignment(entry.data) else None
            return Source(name, read_cells(entry.data, given), notebook=True)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(entry.data).readline)
        if encoding not in ENCODINGS:
            raise LookupError(encoding)
        return Source(name, (entry.data.decode(encoding),), notebook=False)
    except NotebookError as error:
        raise UnreadableError(f"{name}: {error}") from None
    except (SyntaxError, UnicodeError, LookupError):
        raise UnreadableError(f"{name} is not UTF-8 text; save it as UTF-8") from None

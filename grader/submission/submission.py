"""Submissions: the work that one student handed in for one module."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from grader.core.report import EarlierModule
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.course.notebook import NotebookError, read_cells
from grader.submission import archive
from grader.submission.archive import NOTEBOOK, FileContent, UnreadableError
from grader.submission.assignment_cells import given_to_students, is_assignment
from grader.submission.identity import Identity
from grader.submission.own_file import own_file
from grader.submission.reading import script_text

# Who says whose a file is: its name or folder, --map, or nothing: it lies in the folder of the command line.
Whose = Literal["named", "mapped", "loose"]


@dataclass(frozen=True)
class Source:
    """One file of a student: the cells of a notebook, or a script as one cell."""

    file: str
    cells: tuple[str, ...]
    notebook: bool
    given: bool = False  # whether the course gave it, as a fallback


@dataclass(frozen=True)
class Submission:
    """The work of one student for one module, with the student's other modules (slug → source).

    `problem` says why the work cannot be read. `lost` says why the machine could not grade it: then there is no grade.
    """

    student: str
    module: str
    file: str
    sources: Mapping[str, Source]
    problem: str = ""
    lost: str = ""
    builds_on: tuple[EarlierModule, ...] = ()


@dataclass(frozen=True)
class FilePlace:
    """Where a submitted file is."""

    place: Path  # the file, or the zip it is in
    below: PurePosixPath  # its path in the folder or archive, as the student chose it
    member: bool = False  # whether it is in a zip
    shown: str = ""  # the path that the instructor knows, if `place` was unpacked

    @property
    def origin(self) -> str:
        """Its path, for messages."""
        return self.shown or (f"{self.place}/{self.below}" if self.member else str(self.place))

    def read(self) -> FileContent:
        """Return the file; UnreadableError tells the student why that is not possible."""
        try:
            entry = archive.read_file(self.place)
            alone = [FileContent(self.below, entry.data, entry.modified)]
            found = archive.read_archive(entry, only=self.below) if self.member else alone
        except UnreadableError as error:
            raise UnreadableError(f"{self.place.name if self.member else self.below.name} {error}") from None
        if not found:
            raise UnreadableError(f"{self.below.name} is no longer in {self.place.name}")
        return found[0]


@dataclass(frozen=True)
class Attempt:
    """Which of a student's attempts at a module a file belongs to, and when it came."""

    name: str = ""  # tells it apart from the others
    root: int = 0  # which path of the command line it was found at
    arrived: float = 0.0  # the own time of the file or of its zip on this disk
    handed_in: float | None = None  # None if unknown: a file's own time is not when it was handed in
    late: bool = False  # the platform's own mark, without a time
    order: tuple[int, ...] = ()  # the platform's number of the attempt
    earlier: int = 0  # attempts that the platform knows, but did not export

    @property
    def key(self) -> tuple[int, str]:
        """The same for all files that belong together."""
        return self.root, self.name


@dataclass(frozen=True)
class SubmittedFile:
    """One file that is not read yet, with its student and module, or the reason why it cannot be read."""

    who: Identity
    module: Module
    location: FilePlace
    attempt: Attempt = Attempt()
    modified: float = 0.0  # the student can set it
    fit: int = 0  # see module_names
    problem: str = ""
    whose: Whose = "named"
    note: str = ""  # how it was read, if that is not certain

    @property
    def student(self) -> str:
        """The name of the student's reports."""
        return self.who.label

    def read(self) -> Source:
        """Return its cells. UnreadableError tells the student why that is not possible."""
        return _read_source(self._content(), self.module)

    def data(self) -> bytes:
        """Return its content, as it was handed in."""
        return self._content().data

    def _content(self) -> FileContent:
        if self.problem:
            raise UnreadableError(self.problem)
        return self.location.read()


@dataclass(frozen=True)
class SubmissionRef:
    """A submission that is not read yet: the work of a class is never in memory as a whole."""

    piece: SubmittedFile
    beside: Sequence[SubmittedFile]  # the student's other modules
    attempts: int = 1  # the student's attempts at this module
    attempt: str = ""  # its label, if several attempts are graded

    @property
    def student(self) -> str:
        """The student's name."""
        return self.piece.student

    @property
    def module(self) -> str:
        """The name of the module it is for."""
        return self.piece.module.name

    def read(self) -> Submission:
        """Read the submission, with all of its sources that can be read."""
        sources: dict[str, Source] = {}
        problem = lost = ""
        for piece in (*self.beside, self.piece):
            try:
                sources[piece.module.slug] = piece.read()
            except UnreadableError as error:
                problem = str(error) if piece is self.piece else problem
            except OSError as error:  # a disk or network error: not the student's fault, and the class goes on
                lost = f"{piece.location.origin} cannot be read: {error.strerror or error}"
        return Submission(self.student, self.module, self.piece.location.below.name, sources, problem, lost)


def submission_hash(submission: Submission) -> str:
    """Return the hash of everything in a submission: two with the same hash get the same report."""
    sources = {
        slug: [source.file, source.notebook, *source.cells] for slug, source in sorted(submission.sources.items())
    }
    data = [submission.student, submission.module, submission.file, submission.problem, sources]
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def own_submission(course: Course, module: Module) -> Submission:
    """Return a student's own work on one module of their course or bundle, with their other modules."""
    known = dict.fromkeys((*course.modules, module))  # it may be an optional one
    files = {other.name: path for other in known if (path := own_file(other)).is_file()}
    if module.name not in files:
        fix = f"Run `attn reset {module.slug}` to restore the stub"
        raise CourseError(module.stub, "", "is missing or is not a file", fix, usage=True)
    pieces = {other.name: _own_piece(other, files[other.name]) for other in known if other.name in files}
    piece = pieces.pop(module.name)
    submission = SubmissionRef(piece, tuple(pieces.values())).read()
    source = submission.sources.get(module.slug)
    if source is None or not _has_no_code(source):
        return submission
    problem = f"{source.file} is empty: it has no code. Save it in your editor, or get the stub back with "
    return replace(submission, problem=f"{problem}`attn reset {module.slug}`")


def _has_no_code(source: Source) -> bool:
    lines = (line.strip() for cell in source.cells for line in cell.splitlines())
    return all(not line or line.startswith("#") for line in lines)


def _own_piece(module: Module, path: Path) -> SubmittedFile:
    return SubmittedFile(Identity("you"), module, FilePlace(path.resolve(), PurePosixPath(path.name)))


def _read_source(entry: FileContent, module: Module) -> Source:
    name = entry.path.name
    try:
        if entry.path.suffix.lower() == NOTEBOOK:
            given = given_to_students(module) if is_assignment(entry.data) else None
            return Source(name, read_cells(entry.data, given), notebook=True)
        return Source(name, (script_text(entry.data),), notebook=False)
    except NotebookError as error:
        raise UnreadableError(f"{name}: {error}") from None
    except (SyntaxError, UnicodeError, LookupError):
        raise UnreadableError(f"{name} is not UTF-8 text. Save it as UTF-8") from None

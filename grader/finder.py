"""The finder: which files at some paths are whose submission for which module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from grader import archive
from grader.archive import ARCHIVE, NOTEBOOK, SCRIPT, UnreadableError
from grader.course import Course
from grader.module import Module
from grader.submission import HandedIn, Piece, Submission
from grader.when import WhenError, read_when

Policy = Literal["latest", "best"]


@dataclass(frozen=True)
class Found:
    """What is to be graded at some paths; what could not be, and what was passed over, each with the reason."""

    handed_in: tuple[HandedIn, ...]
    refused: tuple[tuple[str, str], ...]
    passed_over: tuple[tuple[str, str], ...]

    @property
    def submissions(self) -> tuple[Submission, ...]:
        """All of them, read: for a few, not for a class."""
        return tuple(one.read() for one in self.handed_in)


@dataclass
class _Finder:
    course: Course
    wanted: Module | None
    root: int = 0
    pieces: list[Piece] = field(default_factory=list)
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
        modified = _modified(path)
        attempt = "/".join([part for part in below.parent.parts if not self.is_module(part)][1:])
        handed_in = (_stamp(path) if len(below.parts) == 3 else None) or modified  # <student>/<assignment>/<file>
        self.pieces.append(Piece(student, module, below, path, False, modified, handed_in, attempt, self.root, fit))

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
            when = entry.modified if is_class else _modified(path)
            attempt = "" if is_class else path.name
            piece = Piece(owner, module, entry.path, path, True, entry.modified, when, attempt, self.root, fit)
            self.pieces.append(piece)
        if not found:
            self.refuse(path, student, "holds no file of a module")

    def refuse(self, path: Path, student: str, reason: str) -> None:
        """Keep a bad archive in the class list if its module is known, else say that it could not be graded."""
        if self.wanted is None:
            self.refused.append((str(path), reason))
            return
        below, when, problem = PurePosixPath(path.name), _modified(path), f"{path.name} {reason}"
        piece = Piece(student, self.wanted, below, path, False, 0.0, when, path.name, self.root, 0, problem)
        self.pieces.append(piece)

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


def find_submissions(
    course: Course, paths: Iterable[Path], module: Module | None = None, policy: Policy | None = None
) -> Found:
    """Return what is to be graded at some paths; with `module`, only that one, whatever its files' names.

    Of several attempts of a student's the latest counts, or with the policy `best` all are to be graded. Without a
    policy, one name found at two paths is also told as a problem: it may be two people.
    """
    finder = _Finder(course, module)
    for finder.root, path in enumerate(paths):
        finder.add(path)
    students: dict[str, _Work] = {}
    for piece in finder.pieces:
        students.setdefault(piece.student, {}).setdefault(piece.module.name, []).append(piece)
    found: list[HandedIn] = []
    for work in students.values():
        for name, pieces in work.items():
            counting = _attempts(pieces) if policy == "best" else [_latest(pieces)]
            for loser, winner in _losers(pieces, counting):
                # Within one class folder that is the rule for drafts; across two it may be two people of one name.
                apart = policy is None and loser.root != winner.root
                reason = f"{winner.origin} counts for {loser.student} instead"
                (finder.refused if apart else finder.passed_over).append((loser.origin, reason))
            if module is None or name == module.name:
                several = len(counting) > 1
                found += [HandedIn(one, _beside(one, work), _label(one) if several else "") for one in counting]
    found.sort(key=lambda one: (one.module, one.student, one.piece.handed_in, one.attempt))
    return Found(tuple(found), tuple(finder.refused), tuple(finder.passed_over))


_Work = dict[str, list[Piece]]  # of one student, by module


def _latest(pieces: list[Piece]) -> Piece:
    """Of files for one module the best named counts, then the one changed last, then the script.

    Between zips it is the time of the zip that says which is later: what is inside may be older than it was handed in.
    """
    zipped = all(piece.member for piece in pieces)
    return max(pieces, key=lambda it: (it.fit, it.handed_in if zipped else 0.0, it.modified, _is_script(it)))


def _attempts(pieces: list[Piece]) -> list[Piece]:
    """Return what counts of each attempt; badly named files are no attempts beside well named ones."""
    fit = max(piece.fit for piece in pieces)
    attempts: dict[tuple[int, str], list[Piece]] = {}
    for piece in pieces:
        if piece.fit == fit:
            attempts.setdefault((piece.root, piece.attempt), []).append(piece)
    return [_latest(group) for group in attempts.values()]


def _losers(pieces: list[Piece], counting: list[Piece]) -> list[tuple[Piece, Piece]]:
    """Return each file that does not count, with the one that does instead."""
    losers = [piece for piece in pieces if not any(piece is one for one in counting)]
    best = _latest(counting)
    return [(loser, next((one for one in counting if _same_attempt(one, loser)), best)) for loser in losers]


def _beside(piece: Piece, work: _Work) -> tuple[Piece, ...]:
    """Return the student's other modules: those of the same attempt, else their latest."""
    beside = []
    for name, pieces in work.items():
        if name != piece.module.name:
            together = [one for one in pieces if _same_attempt(one, piece)]
            beside.append(_latest(together or pieces))
    return tuple(beside)


def _same_attempt(one: Piece, other: Piece) -> bool:
    return (one.root, one.attempt) == (other.root, other.attempt)


def _label(piece: Piece) -> str:
    return f"{piece.root}:{piece.attempt}" if piece.root else piece.attempt


def _is_script(piece: Piece) -> bool:
    return piece.below.suffix == SCRIPT


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # what is wrong with it is said when it is read
        return 0.0


def _stamp(path: Path) -> float | None:
    """Return when nbgrader says a file was handed in, which it keeps beside it."""
    try:
        return read_when(archive.read_file(path.parent / "timestamp.txt").data[:100].decode()).timestamp()
    except (UnreadableError, UnicodeDecodeError, WhenError):
        return None

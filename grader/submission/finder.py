"""The finder: which files at some paths are whose submission for which module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from grader.core.safe_text import plain_name
from grader.core.times import TimeError, read_time
from grader.course.course import Course
from grader.course.module import Module
from grader.submission import archive
from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, UnreadableError
from grader.submission.released_cells import is_assignment
from grader.submission.submission import Submission, SubmissionRef, SubmittedFile

Policy = Literal["latest", "best"]
SUBMITTED = "submitted"  # where nbgrader keeps what was handed in


@dataclass(frozen=True)
class FoundSubmissions:
    """What is to be graded at some paths; what could not be, and what was passed over, each with the reason."""

    handed_in: tuple[SubmissionRef, ...]
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
    scratch: Path | None
    alone: bool  # whether there is only one path
    root: int = 0
    pieces: list[SubmittedFile] = field(default_factory=list)
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
            self.add_zip(path)
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
                    self.add_archive(path, student)
                elif module is None:
                    self.passed_over.append((str(path), "its name is not that of a module"))
                else:
                    self.add_file(path, student, below, module, fit)
        except UnreadableError as error:
            self.refused.append((str(folder), str(error)))
        students = {piece.student for piece in self.pieces[before:]}
        inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and not _is_litter(path))
        if students & set(inside):  # a class: whoever has a folder should have a submission
            for name in (name for name in inside if name not in students and not self.is_module(name)):
                self.refused.append((str(folder / name), "there is nothing to grade in it"))

    def add_file(self, path: Path, student: str, below: PurePosixPath, module: Module, fit: int) -> None:
        modified = _modified(path)
        attempt = "/".join([part for part in below.parent.parts if not self.is_module(part)][1:])
        # nbgrader notes beside <student>/<assignment>/<file> when it came; elsewhere anybody could have put that there.
        stamp = _stamp(path) if len(below.parts) == 3 and path.parents[2].name == SUBMITTED else None
        handed_in = stamp if stamp is not None else self.arrival(path)
        fit = 3 if below.name == module.notebook.name and _is_assignment(path) else fit
        self.pieces.append(
            SubmittedFile(student, module, below, path, False, modified, handed_in, attempt, self.root, fit)
        )

    def arrival(self, path: Path) -> float | None:
        """Return when a file came, which is when it was last changed; of one unpacked here nobody knows."""
        unpacked = self.scratch is not None and path.is_relative_to(self.scratch)
        return None if unpacked else _modified(path)

    def add_zip(self, path: Path) -> None:
        """Take a zip of the command line: a student's, or if it is the only path perhaps a whole class."""
        names = archive.names_in(path)
        owners = {(module.name, self.student(name, "")) for name in names for module in [self.named(name)] if module}
        zips = {self.student(name, "") for name in names if name.suffix.lower() == ARCHIVE}
        if len(owners) <= len({name for name, _ in owners}) and len(zips) < 2:
            self.add_archive(path, path.stem)
        elif not self.alone or self.scratch is None:
            # Among several zips each is one student's, and must not speak for others.
            self.refused.append((str(path), "holds the work of several students; grade it by itself"))
        else:
            folder = self.scratch / path.stem
            folder.mkdir()
            self.refused += [(f"{path}/{name}", reason) for name, reason in archive.unpack(path, folder)]
            self.add_folder(folder)
            for notes in (self.refused, self.passed_over):  # by the names that the instructor knows
                notes[:] = [(where.replace(str(folder), str(path)), reason) for where, reason in notes]

    def add_archive(self, path: Path, student: str) -> None:
        """Take one student's zip."""
        try:
            entries = archive.read_archive(archive.read_file(path))
        except UnreadableError as error:
            self.refuse(path, student, str(error))
            return
        except OSError as error:
            self.refused.append((str(path), f"cannot be read: {error.strerror}"))
            return
        found = [(module, fit, entry) for entry in entries for module, fit in [self.module(entry.path)] if module]
        when = self.arrival(path)
        for module, fit, entry in found:
            # The file's time is what the student says; the zip's is when it came.
            piece = SubmittedFile(
                student, module, entry.path, path, True, entry.modified, when, path.name, self.root, fit
            )
            self.pieces.append(piece)
        if not found:
            self.refuse(path, student, "holds no file of a module")

    def refuse(self, path: Path, student: str, reason: str) -> None:
        """Keep a bad archive in the class list if its module is known, else say that it could not be graded."""
        if self.wanted is None:
            self.refused.append((str(path), reason))
            return
        below, when, problem = PurePosixPath(path.name), self.arrival(path), f"{path.name} {reason}"
        piece = SubmittedFile(student, self.wanted, below, path, False, 0.0, when, path.name, self.root, 0, problem)
        self.pieces.append(piece)

    def named(self, path: PurePosixPath) -> Module | None:
        """Return the module that a file is named after."""
        return next((one for one in self.course.modules if path.stem in (one.name, one.slug)), None)

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
        """Whether a folder or file is named after a module, or after a folder they are kept or handed in in."""
        return name in ("modules", SUBMITTED) or any(
            name in (module.name, module.slug) for module in self.course.modules
        )


def find_submissions(
    course: Course,
    paths: Iterable[Path],
    module: Module | None = None,
    policy: Policy | None = None,
    scratch: Path | None = None,
) -> FoundSubmissions:
    """Return what is to be graded at some paths; with `module`, only that one, whatever its files' names.

    Of several attempts of a student's the latest counts, or with the policy `best` all are to be graded. Without a
    policy, what may be two people is told as a problem. The zip of a class is unpacked into `scratch`.
    """
    paths = list(paths)
    finder = _Finder(course, module, scratch, alone=len(paths) == 1)
    for finder.root, path in enumerate(paths):
        finder.add(path)
    students: dict[str, _Work] = {}
    for piece in finder.pieces:
        students.setdefault(piece.student, {}).setdefault(piece.module.name, []).append(piece)
    found: list[SubmissionRef] = []
    for student, work in students.items():
        for name, pieces in work.items():
            if policy is None and (several := _folders(pieces)):
                where = f"{student} has {name} in several folders ({', '.join(several[:4])})"
                finder.refused.append((where, "attempts? Say --policy. Students? Name the folder above them"))
                continue
            attempts = _attempts(pieces)
            counting = attempts if policy == "best" else [_latest(attempts)]
            for loser, winner in _losers(pieces, counting):
                # Within one class folder that is the rule for drafts; across two it may be two people of one name.
                apart = policy is None and loser.root != winner.root
                reason = f"{winner.origin} counts for {loser.student} instead"
                (finder.refused if apart else finder.passed_over).append((loser.origin, reason))
            if module is None or name == module.name:
                labels = _labels(counting)
                found += [
                    SubmissionRef(one, _beside(one, work), len(attempts), label)
                    for one, label in zip(counting, labels, strict=True)
                ]
    found.sort(key=lambda one: (one.module, one.student, one.piece.handed_in or 0.0, one.attempt))
    return FoundSubmissions(tuple(found), tuple(finder.refused), tuple(finder.passed_over))


_Work = dict[str, list[SubmittedFile]]  # of one student, by module


def _folders(pieces: list[SubmittedFile]) -> list[str]:
    """Return the folders that one student's module lies in, if there are several and none is the student's own."""
    folders = {piece.attempt for piece in pieces if not piece.member and not piece.problem}
    return sorted(folders) if len(folders) > 1 and "" not in folders else []


def _attempts(pieces: list[SubmittedFile]) -> list[SubmittedFile]:
    """Return what counts of each attempt: the file changed last, and of script and notebook of one time the script.

    Badly named files are no attempts beside well named ones.
    """
    fit = max(piece.fit for piece in pieces)
    attempts: dict[tuple[int, str], list[SubmittedFile]] = {}
    for piece in pieces:
        if piece.fit == fit:
            attempts.setdefault((piece.root, piece.attempt), []).append(piece)
    return [max(group, key=lambda it: (it.modified, _is_script(it))) for group in attempts.values()]


def _latest(attempts: list[SubmittedFile]) -> SubmittedFile:
    """Return the attempt that was handed in last."""
    return max(attempts, key=lambda it: (it.handed_in or 0.0, it.modified, _is_script(it)))


def _labels(counting: list[SubmittedFile]) -> list[str]:
    """Return what to call each of several attempts, no two alike and none empty; one alone needs no name."""
    if len(counting) == 1:
        return [""]
    labels: list[str] = []
    for piece in counting:
        name = plain_name(piece.attempt) or "own folder"
        labels.append(name if name not in labels else f"{name} ({len(labels) + 1})")
    return labels


def _losers(pieces: list[SubmittedFile], counting: list[SubmittedFile]) -> list[tuple[SubmittedFile, SubmittedFile]]:
    """Return each file that does not count, with the one that does instead."""
    losers = [piece for piece in pieces if not any(piece is one for one in counting)]
    best = _latest(counting)
    return [(loser, next((one for one in counting if _same_attempt(one, loser)), best)) for loser in losers]


def _beside(piece: SubmittedFile, work: _Work) -> tuple[SubmittedFile, ...]:
    """Return the student's other modules: those of the same attempt, else their latest."""
    beside = []
    for name, pieces in work.items():
        if name != piece.module.name:
            together = [one for one in pieces if _same_attempt(one, piece)]
            beside.append(_latest(_attempts(together or pieces)))
    return tuple(beside)


def _same_attempt(one: SubmittedFile, other: SubmittedFile) -> bool:
    return (one.root, one.attempt) == (other.root, other.attempt)


def _is_script(piece: SubmittedFile) -> bool:
    return piece.below.suffix == SCRIPT


def _is_litter(folder: Path) -> bool:
    """Whether a folder in a class is no student's: hidden, made by a Mac, or the results of a grading."""
    return folder.name.startswith(".") or folder.name == "__MACOSX" or (folder / "journal.jsonl").is_file()


def _modified(path: Path) -> float:
    try:
        return _sensible(path.lstat().st_mtime) or 0.0
    except OSError:  # what is wrong with it is said when it is read
        return 0.0


def _sensible(moment: float) -> float | None:
    """Return a time that a calendar has; a student can write any number."""
    return moment if 0.0 <= moment < 4e9 else None


def _is_assignment(path: Path) -> bool:
    """Whether a notebook is nbgrader's: what was given out counts, and nothing that lies beside it."""
    try:
        return is_assignment(archive.read_file(path).data)
    except (UnreadableError, OSError):  # which is said when it is read
        return False


def _stamp(path: Path) -> float | None:
    """Return when nbgrader says a file was handed in, which it keeps beside it."""
    try:
        return _sensible(read_time(archive.read_file(path.parent / "timestamp.txt").data[:100].decode()).timestamp())
    except (UnreadableError, UnicodeDecodeError, TimeError, OSError, OverflowError, ValueError):
        return None

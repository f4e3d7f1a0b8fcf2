"""The finder, which assigns the files at some paths to students and modules."""

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
from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, UnreadableError, ZipListing
from grader.submission.platform_export import PlatformExport, export_of, likely_export
from grader.submission.released_cells import is_assignment
from grader.submission.submission import Submission, SubmissionRef, SubmittedFile

Policy = Literal["latest", "best"]
UNKNOWN_MODULE = "cannot tell which module it is for. Use --module"
SAY_WHICH = "If it is a class, add --class-zip. If it is one student's work, add --student NAME"
SEVERAL_FOLDERS = "if these are attempts, use --policy. If they are students, grade the folder that contains them"
SUBMITTED = "submitted"  # nbgrader's folder of submissions


@dataclass(frozen=True)
class FoundSubmissions:
    """The submissions found at some paths. Refused and skipped files have a reason each, read zips a note."""

    handed_in: tuple[SubmissionRef, ...]
    refused: tuple[tuple[str, str], ...]
    passed_over: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def submissions(self) -> tuple[Submission, ...]:
        """All submissions, read into memory. Use it for a few, not for a class."""
        return tuple(one.read() for one in self.handed_in)


@dataclass
class _Finder:
    course: Course
    requested: Module | None
    scratch: Path | None
    single_path: bool  # whether the command line has only one path
    owner: str | None  # whose work everything is
    class_zip: bool  # whether every zip of the command line is a class
    root: int = 0
    files: list[SubmittedFile] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Add one path of the command line: a folder, a zip, a script or a notebook."""
        if path.is_dir() and path.suffix.lower() in (SCRIPT, NOTEBOOK, ARCHIVE):
            self.refused.append((str(path), "is a folder, not a file"))
        elif path.is_dir():
            self.add_folder(path)
        elif not path.exists():
            self.refused.append((str(path), "there is no such file or folder"))
        elif path.suffix.lower() == ARCHIVE:
            self.add_zip(path)
        else:
            # A path from the instructor may be a link. Links inside folders were handed in and are refused.
            real = path.resolve()
            below = PurePosixPath(*real.parts[-2:])
            module, fit = (self.requested, 2) if self.requested else self.module(below)
            if module is None:
                self.refused.append((str(path), UNKNOWN_MODULE))
            else:
                self.add_file(real, self.student_of_file(real), below, module, fit)

    def add_folder(self, folder: Path) -> None:
        before = len(self.files)
        try:
            for path in archive.walk(folder):
                below = PurePosixPath(path.relative_to(folder).as_posix())
                student = self.student(below, folder.resolve().name)
                module, fit = self.module(below)
                if path.suffix.lower() == ARCHIVE:
                    # The folder says whose it is: the content of a zip must not act for another student.
                    self.add_archive(path, student)
                elif module is None:
                    self.passed_over.append((str(path), UNKNOWN_MODULE))
                else:
                    self.add_file(path, student, below, module, fit)
        except UnreadableError as error:
            self.refused.append((str(folder), str(error)))
        students = {file.student for file in self.files[before:]}
        inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and not _is_clutter(path))
        if self.owner is None and students & set(inside):  # a class: every student's folder should have a submission
            for name in (name for name in inside if name not in students and not self.is_module(name)):
                self.refused.append((str(folder / name), "has nothing to grade"))

    def add_file(self, path: Path, student: str, below: PurePosixPath, module: Module, fit: int) -> None:
        modified = _modified(path)
        folders = self.folders(below)
        attempt = "/".join(folders if self.owner is not None else folders[1:])  # the first one is the student's own
        # In submitted/<student>/<assignment>/, timestamp.txt is nbgrader's. Elsewhere a student could have written it.
        nbgrader_time = _nbgrader_time(path) if len(below.parts) == 3 and path.parents[2].name == SUBMITTED else None
        handed_in = nbgrader_time if nbgrader_time is not None else self.arrival(path)
        fit = 3 if below.name == module.notebook.name and _is_assignment(path) else fit
        self.files.append(
            SubmittedFile(student, module, below, path, False, modified, handed_in, attempt, self.root, fit)
        )

    def folders(self, below: PurePosixPath) -> list[str]:
        """Return the folders of a file that are not a module's."""
        return [part for part in below.parent.parts if not self.is_module(part)]

    def arrival(self, path: Path) -> float | None:
        """Return when a file was handed in: its modification time, or None if it was unpacked here."""
        unpacked = self.scratch is not None and path.is_relative_to(self.scratch)
        return None if unpacked else _modified(path)

    def add_zip(self, path: Path) -> None:
        """Add a zip of the command line: one student's, unless it is said, or beyond doubt, that it is a class."""
        listing = archive.listing(path)
        if self.owner is not None:
            self.add_archive(path, self.owner)
        elif self.class_zip:
            self.add_class_zip(path, likely_export(listing.names))
        elif not listing.sound:
            self.add_archive(path, path.stem)  # reading it says what is wrong
        elif self.single_path and (export := export_of(path.stem, listing.names)):
            # Among several zips, each is one student's.
            students = len(export.students(listing.names))
            self.notes.append((str(path), f"read as a class of {students} that {export.platform} exported"))
            self.add_class_zip(path, export)
        elif doubt := self.doubt(listing):
            self.refused.append((str(path), f"{doubt}. {SAY_WHICH}"))
        else:
            self.add_archive(path, path.stem)

    def doubt(self, listing: ZipListing) -> str:
        """Return why a zip may not be the work of one student; empty if there is no doubt."""
        zips = [name for name in listing.work if name.suffix.lower() == ARCHIVE]
        if zips:
            return f"has {len(zips)} zip(s) inside ({_some(zips)})"
        if export := likely_export(listing.work):
            return f"has files that are named as in a class that {export.platform} exported ({_some(listing.work)})"
        found = [(name, *self.module(name)) for name in listing.work]
        best = {module.name: max(fit for _, other, fit in found if other is module) for _, module, _ in found if module}
        # One student's files are in one folder, apart from folders of modules, and have the names of modules.
        places = {
            (*self.folders(name), "" if fit >= 2 else name.stem): name
            for name, module, fit in found
            if module and fit == best[module.name]
        }
        return f"has work in several places ({_some(sorted(places.values()))})" if len(places) > 1 else ""

    def add_class_zip(self, path: Path, export: PlatformExport | None) -> None:
        """Add the zip of a class. Each zip inside it is one student's work."""
        if self.scratch is None:
            raise ValueError("the zip of a class needs a folder to unpack it into")
        folder = self.scratch / str(self.root) / path.stem
        folder.mkdir(parents=True)
        try:
            left_out = archive.unpack(path, folder, export.place if export else lambda name: name)
        except UnreadableError as error:
            left_out = []
            self.refused.append((str(path), str(error)))
        self.refused += [(f"{path}/{name}", reason) for name, reason in left_out]
        self.add_folder(folder)
        for notes in (self.refused, self.passed_over):  # use the paths that the instructor knows
            notes[:] = [(where.replace(str(folder), str(path)), reason) for where, reason in notes]

    def add_archive(self, path: Path, student: str) -> None:
        """Add one student's zip."""
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
            # The student sets the file's time. The zip's time is when it was handed in.
            file = SubmittedFile(
                student, module, entry.path, path, True, entry.modified, when, path.name, self.root, fit
            )
            self.files.append(file)
        if not found:
            self.refuse(path, student, "has no file for a module")

    def refuse(self, path: Path, student: str, reason: str) -> None:
        """Keep a bad archive in the class list if its module is known. Otherwise refuse it."""
        if self.requested is None:
            self.refused.append((str(path), reason))
            return
        below, when, problem = PurePosixPath(path.name), self.arrival(path), f"{path.name} {reason}"
        file = SubmittedFile(student, self.requested, below, path, False, 0.0, when, path.name, self.root, 0, problem)
        self.files.append(file)

    def named(self, path: PurePosixPath) -> Module | None:
        """Return the module that a file is named after."""
        return next((one for one in self.course.modules if path.stem in (one.name, one.slug)), None)

    def module(self, path: PurePosixPath) -> tuple[Module | None, int]:
        """Return the module of a path, by its own name or a folder's, and how well it fits."""
        for fit, names in ((2, (path.stem,)), (1, path.parent.parts[::-1])):
            for module in self.course.modules:
                if module.name in names or module.slug in names:
                    return module, fit
        return self.requested, 0

    def student(self, path: PurePosixPath, container: str) -> str:
        """Return whose file this is: the first folder that is not a module's, or else the file or its container."""
        if self.owner is not None:
            return self.owner
        if folders := self.folders(path):
            return folders[0]
        return container if path.parent.parts or self.is_module(path.stem) else path.stem

    def student_of_file(self, path: Path) -> str:
        """Return whose file one path is: `ana/01_softmax/softmax.py`, `ana/softmax.py` or `ana.py`."""
        if self.owner is not None:
            return self.owner
        if not self.is_module(path.stem) or path.is_relative_to(self.course.root / "modules"):
            return path.stem
        return next((folder.name for folder in path.parents if not self.is_module(folder.name)), "") or path.stem

    def is_module(self, name: str) -> bool:
        """Whether a name is that of a module, or of a folder that contains modules or submissions."""
        return name in ("modules", SUBMITTED) or any(
            name in (module.name, module.slug) for module in self.course.modules
        )


def find_submissions(
    course: Course,
    paths: Iterable[Path],
    module: Module | None = None,
    policy: Policy | None = None,
    scratch: Path | None = None,
    *,
    student: str | None = None,
    class_zip: bool = False,
) -> FoundSubmissions:
    """Return the submissions at some paths. With `module`, only those for it, whatever the names of the files.

    Of several attempts by one student the latest counts. With the policy `best`, all are graded. Without a policy,
    files that could belong to two people are refused.

    With `student`, everything is the work of that student. With `class_zip`, each zip among the paths is a class.
    Otherwise a zip is a class only if it is the only path, there is a folder `scratch` to unpack it into, and beyond
    doubt a platform exported it. A zip inside a folder or a zip is always one student's work.
    """
    paths = list(paths)
    single_path = len(paths) == 1 and scratch is not None
    finder = _Finder(course, module, scratch, single_path, student, class_zip)
    for finder.root, path in enumerate(paths):
        finder.add(path)
    students: dict[str, _FilesByModule] = {}
    for file in finder.files:
        students.setdefault(file.student, {}).setdefault(file.module.name, []).append(file)
    found: list[SubmissionRef] = []
    for who, work in students.items():
        for name, files in work.items():
            if policy is None and (several := _several_folders(files)):
                where = f"{who} has {name} in several folders ({', '.join(several[:4])})"
                finder.refused.append((where, SEVERAL_FOLDERS))
                continue
            attempts = _counting_files(files)
            counting = attempts if policy == "best" else [_latest(attempts)]
            for loser, winner in _superseded(files, counting):
                # Within one class folder it is an older draft. Across two it may be two people with the same name.
                apart = policy is None and student is None and loser.root != winner.root
                reason = f"{winner.origin} counts for {loser.student} instead"
                (finder.refused if apart else finder.passed_over).append((loser.origin, reason))
            if module is None or name == module.name:
                labels = _labels(counting)
                found += [
                    SubmissionRef(one, _other_modules(one, work), len(attempts), label)
                    for one, label in zip(counting, labels, strict=True)
                ]
    found.sort(key=lambda one: (one.module, one.student, one.piece.handed_in or 0.0, one.attempt))
    return FoundSubmissions(tuple(found), tuple(finder.refused), tuple(finder.passed_over), tuple(finder.notes))


_FilesByModule = dict[str, list[SubmittedFile]]  # one student's files, by module


def _several_folders(files: list[SubmittedFile]) -> list[str]:
    """Return the folders that have one student's module, if there are several and none is the student's own."""
    folders = {file.attempt for file in files if not file.member and not file.problem}
    return sorted(folders) if len(folders) > 1 and "" not in folders else []


def _counting_files(files: list[SubmittedFile]) -> list[SubmittedFile]:
    """Return the file that counts of each attempt: the one changed last, or the script if both have the same time.

    Badly named files do not count beside well named ones.
    """
    fit = max(file.fit for file in files)
    attempts: dict[tuple[int, str], list[SubmittedFile]] = {}
    for file in files:
        if file.fit == fit:
            attempts.setdefault((file.root, file.attempt), []).append(file)
    return [max(group, key=lambda it: (it.modified, _is_script(it))) for group in attempts.values()]


def _latest(attempts: list[SubmittedFile]) -> SubmittedFile:
    """Return the attempt that was handed in last."""
    return max(attempts, key=lambda it: (it.handed_in or 0.0, it.modified, _is_script(it)))


def _labels(counting: list[SubmittedFile]) -> list[str]:
    """Return a different label for each of several attempts. A single attempt has an empty label."""
    if len(counting) == 1:
        return [""]
    labels: list[str] = []
    for file in counting:
        name = plain_name(file.attempt) or "own folder"
        labels.append(name if name not in labels else f"{name} ({len(labels) + 1})")
    return labels


def _superseded(files: list[SubmittedFile], counting: list[SubmittedFile]) -> list[tuple[SubmittedFile, SubmittedFile]]:
    """Return each file that does not count, with the file that counts instead."""
    losers = [file for file in files if not any(file is one for one in counting)]
    best = _latest(counting)
    return [(loser, next((one for one in counting if _same_attempt(one, loser)), best)) for loser in losers]


def _other_modules(file: SubmittedFile, work: _FilesByModule) -> tuple[SubmittedFile, ...]:
    """Return the student's other modules: of the same attempt, or else the latest."""
    beside = []
    for name, files in work.items():
        if name != file.module.name:
            together = [one for one in files if _same_attempt(one, file)]
            beside.append(_latest(_counting_files(together or files)))
    return tuple(beside)


def _same_attempt(one: SubmittedFile, other: SubmittedFile) -> bool:
    return (one.root, one.attempt) == (other.root, other.attempt)


def _some(names: Iterable[PurePosixPath]) -> str:
    first, second, *more = [*map(str, names), ""]
    return ", ".join(filter(None, (first, second, "…" if any(more) else "")))


def _is_script(file: SubmittedFile) -> bool:
    return file.below.suffix == SCRIPT


def _is_clutter(folder: Path) -> bool:
    """Whether a folder in a class is not a student's: hidden, made by macOS, or results of a grading."""
    return folder.name.startswith(".") or folder.name == "__MACOSX" or (folder / "journal.jsonl").is_file()


def _modified(path: Path) -> float:
    try:
        return _plausible(path.lstat().st_mtime) or 0.0
    except OSError:  # reading the file later reports the problem
        return 0.0


def _plausible(moment: float) -> float | None:
    """Return a time if it is plausible: a student can set any number."""
    return moment if 0.0 <= moment < 4e9 else None


def _is_assignment(path: Path) -> bool:
    """Whether a notebook is from nbgrader. Then it counts, and no file beside it does."""
    try:
        return is_assignment(archive.read_file(path).data)
    except (UnreadableError, OSError):  # reading the file later reports the problem
        return False


def _nbgrader_time(path: Path) -> float | None:
    """Return when a file was handed in, from nbgrader's timestamp file beside it."""
    try:
        return _plausible(read_time(archive.read_file(path.parent / "timestamp.txt").data[:100].decode()).timestamp())
    except (UnreadableError, UnicodeDecodeError, TimeError, OSError, OverflowError, ValueError):
        return None

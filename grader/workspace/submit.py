"""What a student hands in: one zip of the files that count, tested as the grader will find them in it."""

from __future__ import annotations

import io
import json
import re
import tempfile
import time
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader import __version__
from grader.core.atomic_file import write_bytes_atomically
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.golden import sha256
from grader.course.module import CourseError, Module
from grader.submission.archive import ARCHIVE
from grader.submission.finder import find_submissions
from grader.submission.own_file import is_untouched, own_file, own_sha256, stale_twin
from grader.submission.submission import Submission
from grader.workspace.progress import record_report

MANIFEST = "manifest.json"
SCHEMA = 1
LONGEST = 64
_PUNCTUATION = "._@+- "
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # on Windows

ReadyState = Literal["passing", "failing", "missing", "untouched", "fault"]


class StudentNameError(Exception):
    """No name to hand in under, and why."""


class TargetError(Exception):
    """A place where the zip cannot go, and why."""


class NotHandedInError(Exception):
    """Work that cannot be handed in as it is, and why; nothing was written."""


@dataclass(frozen=True)
class FileToSubmit:
    """One file to be handed in, as it was read once and for all."""

    module: Module
    file: str
    data: bytes
    modified: float
    behind: str  # the other one of script and notebook, if it holds other code

    @property
    def path(self) -> str:
        """Where it is in the zip."""
        return f"{self.module.name}/{self.file}"


@dataclass(frozen=True)
class ModuleReadiness:
    """How one module of the course stands before it is handed in."""

    module: Module
    state: ReadyState
    passed: int = 0
    total: int = 0
    problem: str = ""
    piece: FileToSubmit | None = None

    @property
    def is_trouble(self) -> bool:
        """Whether the student should know before handing in."""
        return self.state in ("failing", "missing", "fault")


def checked_student(course: Course, name: str) -> str:
    """Return a name fit for a file on any system and for the grader, which reads it off that file."""
    name = unicodedata.normalize("NFC", name)
    if not 1 <= len(name) <= LONGEST:
        raise StudentNameError(f"a student's id has 1 to {LONGEST} characters, this one {len(name)}")
    strange = next((one for one in name if one not in _PUNCTUATION and not _is_letter_or_digit(one)), "")
    if strange:
        shown = one_line(strange)
        raise StudentNameError(f"a student's id has letters, digits, spaces and . _ @ + - only, not {shown!r}")
    if not _is_letter_or_digit(name[0]) and name[0] != "_":
        raise StudentNameError("a student's id begins with a letter or a digit")
    if name[-1] == " ":
        raise StudentNameError("a student's id does not end with a space")
    if _RESERVED.fullmatch(name):
        raise StudentNameError(f"{name} is a name that Windows keeps for itself; choose another id")
    if name == "modules" or any(name in (module.name, module.slug) for module in course.modules):
        raise StudentNameError(f"{name} is the name of a module; choose another id")
    return name


def _is_letter_or_digit(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def checked_target(path: Path, student: str) -> Path:
    """Return where the zip goes; a file that is there already must be an earlier one of the same student's."""
    path = path / f"{student}{ARCHIVE}" if path.is_dir() else path
    if path.suffix.lower() != ARCHIVE:
        raise TargetError(f"{path} is no name of a zip; let it end in {ARCHIVE}")
    if not path.parent.is_dir():
        raise TargetError(f"there is no folder {path.parent}")
    if not path.exists():
        return path
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(MANIFEST))
        owner, schema = manifest["student"], manifest["schema"]
        ours = schema == SCHEMA and "attnlab" in manifest
    except Exception:  # noqa: BLE001 - the reader and its decompressors raise a dozen kinds on files that are no zip
        owner, ours = None, False
    if not ours:
        raise TargetError(f"{path} is there already, and not from `attn submit`; move it away or say --to")
    if owner != student:
        raise TargetError(f"{path} is what {one_line(str(owner))} hands in; move it away or say --to")
    return path


def pieces(course: Course) -> list[FileToSubmit]:
    """Read the file that counts of every module that was worked on, once: what is tested is what is handed in."""
    found = []
    for module in course.modules:
        path = own_file(module)
        behind = stale_twin(module)
        # An untouched notebook that is newer than a finished script is a mistake to be seen, not a module not begun.
        if path.is_file() and (behind is not None or not is_untouched(module)):
            entry = FileToSubmit(
                module, path.name, path.read_bytes(), path.stat().st_mtime, behind.name if behind else ""
            )
            found.append(entry)
    return found


def outcomes(course: Course, student: str, work: Sequence[FileToSubmit]) -> Iterator[ModuleReadiness]:
    """Test every module as the grader will find it in the zip, and note the progress."""
    by_module = {piece.module.name: piece for piece in work}
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / f"{student}{ARCHIVE}"
        path.write_bytes(_zipped(work, None))
        found = find_submissions(course, [path])
        submissions = {one.module: one for one in found.submissions} if work else {}
        if work and (found.refused or len(submissions) != len(work)):
            reasons = "; ".join(reason for _, reason in found.refused) or "a file in it is passed over"
            raise NotHandedInError(f"the grader could not read this zip: it {reasons}")
    for module in course.modules:
        if module.name in submissions:
            yield _tested(course, module, submissions[module.name], by_module[module.name])
        elif own_file(module).is_file():
            yield ModuleReadiness(module, "untouched")
        else:
            yield ModuleReadiness(
                module, "missing", problem=f"{module.stub.name} is missing; `attn reset` puts the stub back"
            )


def _tested(course: Course, module: Module, submission: Submission, piece: FileToSubmit) -> ModuleReadiness:
    from grader.core.report import Report
    from grader.grading.grade import check_own_files

    reports: list[Report] = []
    try:
        check_own_files(course, module, [submission], reports.append)
    except CourseError as error:  # such as a library that is not installed here: it may be where it is graded
        return ModuleReadiness(module, "fault", problem=str(error), piece=piece)
    (report,) = reports
    if own_sha256(module) != sha256(piece.data):
        raise NotHandedInError(f"{piece.file} was changed while it was tested; run `attn submit` again")
    record_report(course, module, report)
    passed = sum(check.outcome == "passed" for check in report.checks)
    if report.score is None:
        return ModuleReadiness(module, "fault", passed, len(report.checks), report.message, piece)
    state: ReadyState = "passing" if passed == len(report.checks) else "failing"
    problem = one_line(report.message) if report.status == "not_importable" else ""
    return ModuleReadiness(module, state, passed, len(report.checks), problem, piece)


def manifest_of(student: str, done: Sequence[ModuleReadiness]) -> dict[str, Any]:
    """Return what the zip says about itself."""
    modules = {
        one.module.name: {
            "file": one.piece.file,
            "sha256": sha256(one.piece.data),
            "passed": one.passed,
            "total": one.total,
        }
        for one in done
        if one.piece is not None
    }
    return {"schema": SCHEMA, "student": student, "attnlab": __version__, "modules": modules}


def write_zip(path: Path, student: str, done: Sequence[ModuleReadiness]) -> dict[str, Any]:
    """Write the zip, whole or not at all, read it back, and return its manifest."""
    manifest = manifest_of(student, done)
    work = [one.piece for one in done if one.piece is not None]
    write_bytes_atomically(path, _zipped(work, manifest))
    verify(path, manifest)
    return manifest


def verify(path: Path, manifest: Mapping[str, Any]) -> None:
    """See that a zip on the disk holds just what its manifest says; OSError if not, as it is the disk's fault."""
    try:
        with zipfile.ZipFile(path) as archive:
            expected = {f"{name}/{entry['file']}": entry["sha256"] for name, entry in manifest["modules"].items()}
            found = {name: sha256(archive.read(name)) for name in archive.namelist() if name != MANIFEST}
            whole = found == expected and json.loads(archive.read(MANIFEST)) == manifest
    except Exception:  # noqa: BLE001 - whatever the reader finds amiss, it is not what was written
        whole = False
    if not whole:
        raise OSError(f"{path} does not hold what was written to it; do not hand it in, run `attn submit` again")


def _zipped(work: Sequence[FileToSubmit], manifest: Mapping[str, Any] | None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for piece in work:
            _add(archive, piece.path, piece.data, piece.modified)
        if manifest is not None:
            newest = max((piece.modified for piece in work), default=0.0)
            text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
            _add(archive, MANIFEST, text.encode(), newest)
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes, modified: float) -> None:
    # In UTC, as the grader reads it; a zip knows the years 1980 to 2107.
    moment = time.gmtime(min(max(modified, 315_532_800.0), 4_354_819_198.0))
    info = zipfile.ZipInfo(name, moment[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data)

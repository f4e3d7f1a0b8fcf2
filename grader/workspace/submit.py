"""The zip that a student hands in, tested as the grader will read it."""

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
from grader.core.json_record import json_text
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.golden import sha256
from grader.course.module import CourseError, Module
from grader.submission.archive import ARCHIVE
from grader.submission.finder import find_submissions
from grader.submission.own_file import is_untouched, own_file, own_sha256, stale_twin
from grader.submission.submission import Submission
from grader.workspace.completion import Completion
from grader.workspace.progress import record_report
from grader.workspace.reflect import not_right, unanswered

MANIFEST = "manifest.json"
SCHEMA = 1
MAX_ID = 64
_PUNCTUATION = "._@+- "
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # names that Windows reserves

ReadyState = Literal["passing", "failing", "missing", "untouched", "fault"]


class StudentNameError(Exception):
    """The reason why a student id cannot be used."""


class TargetError(Exception):
    """The reason why the zip cannot be written to a path."""


class NotHandedInError(Exception):
    """The reason why the work cannot be handed in. Nothing was written."""


@dataclass(frozen=True)
class FileToSubmit:
    """One file to hand in, read once."""

    module: Module
    file: str
    data: bytes
    modified: float
    behind: str  # the older of script and notebook, if it has other code

    @property
    def path(self) -> str:
        """Its path in the zip."""
        return f"{self.module.name}/{self.file}"


@dataclass(frozen=True)
class ModuleReadiness:
    """The state of one module before it is handed in."""

    module: Module
    state: ReadyState
    passed: int = 0
    total: int = 0
    problem: str = ""
    piece: FileToSubmit | None = None
    open_items: tuple[str, ...] = ()  # what the visible checks do not say

    @property
    def is_trouble(self) -> bool:
        """Whether the student should be warned before handing in."""
        return self.state in ("failing", "missing", "fault")


def checked_student(course: Course, name: str) -> str:
    """Return a student id that is a valid file name on any system: the grader reads the id from the file name."""
    name = unicodedata.normalize("NFC", name)
    if not 1 <= len(name) <= MAX_ID:
        raise StudentNameError(f"a student id must have 1 to {MAX_ID} characters; this one has {len(name)}")
    forbidden = next((one for one in name if one not in _PUNCTUATION and not _is_letter_or_digit(one)), "")
    if forbidden:
        shown = one_line(forbidden)
        raise StudentNameError(f"a student id may have letters, digits, spaces and . _ @ + - only, not {shown!r}")
    if not _is_letter_or_digit(name[0]) and name[0] != "_":
        raise StudentNameError("a student id must begin with a letter or a digit")
    if name[-1] == " ":
        raise StudentNameError("a student id must not end with a space")
    if _RESERVED.fullmatch(name):
        raise StudentNameError(f"Windows reserves the name {name}. Choose another id")
    if name == "modules" or any(name in (module.name, module.slug) for module in course.modules):
        raise StudentNameError(f"{name} is the name of a module. Choose another id")
    return name


def _is_letter_or_digit(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def checked_target(path: Path, student: str) -> Path:
    """Return the path for the zip. An existing file there must be an earlier zip of the same student."""
    path = path / f"{student}{ARCHIVE}" if path.is_dir() else path
    if path.suffix.lower() != ARCHIVE:
        raise TargetError(f"{path} is not the name of a zip. It must end in {ARCHIVE}")
    if not path.parent.is_dir():
        raise TargetError(f"there is no folder {path.parent}")
    if not path.exists():
        return path
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(MANIFEST))
        owner, schema = manifest["student"], manifest["schema"]
        ours = schema == SCHEMA and "attnlab" in manifest
    except Exception:  # noqa: BLE001 - files that are not zips raise a dozen kinds of errors
        owner, ours = None, False
    if not ours:
        raise TargetError(f"{path} already exists and is not from `attn submit`. Move it, or use --to")
    if owner != student:
        raise TargetError(f"{path} is the submission of {one_line(str(owner))}. Move it, or use --to")
    return path


def files_to_submit(course: Course) -> list[FileToSubmit]:
    """Read the file that counts of every started module, once, so that the tested files are the submitted ones."""
    found = []
    for module in course.modules:
        path = own_file(module)
        behind = stale_twin(module)
        # An untouched notebook that is newer than a finished script is a mistake to show, not a module not started.
        if path.is_file() and (behind is not None or not is_untouched(module)):
            entry = FileToSubmit(
                module, path.name, path.read_bytes(), path.stat().st_mtime, behind.name if behind else ""
            )
            found.append(entry)
    return found


def check_modules(course: Course, student: str, work: Sequence[FileToSubmit]) -> Iterator[ModuleReadiness]:
    """Test every module as the grader will read it from the zip, and record the progress."""
    by_module = {piece.module.name: piece for piece in work}
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / f"{student}{ARCHIVE}"
        path.write_bytes(_zip_bytes(work, None))
        found = find_submissions(course, [path])
        submissions = {one.module: one for one in found.submissions} if work else {}
        if work and (found.refused or len(submissions) != len(work)):
            reasons = "; ".join(reason for _, reason in found.refused) or "has a file that would be skipped"
            raise NotHandedInError(f"the grader could not read this zip: it {reasons}")
    for module in course.modules:
        if module.name in submissions:
            yield _test_module(course, module, submissions[module.name], by_module[module.name])
        elif own_file(module).is_file():
            yield ModuleReadiness(module, "untouched")
        else:
            yield ModuleReadiness(
                module, "missing", problem=f"{module.stub.name} is missing. Run `attn reset` to restore the stub"
            )


def _test_module(course: Course, module: Module, submission: Submission, piece: FileToSubmit) -> ModuleReadiness:
    from grader.core.report import Report
    from grader.grading.grade import check_own_files

    reports: list[Report] = []
    try:
        check_own_files(course, module, [submission], reports.append)
    except CourseError as error:  # such as a library that is missing here but may be installed on the grading machine
        return ModuleReadiness(module, "fault", problem=str(error), piece=piece)
    (report,) = reports
    if own_sha256(module) != sha256(piece.data):
        raise NotHandedInError(f"{piece.file} changed during the test. Run `attn submit` again")
    record_report(course, module, report)
    passed = sum(check.outcome == "passed" for check in report.checks)
    if report.score is None:
        return ModuleReadiness(module, "fault", passed, len(report.checks), report.message, piece)
    state: ReadyState = "passing" if passed == len(report.checks) else "failing"
    problem = one_line(report.message) if report.status == "not_importable" else ""
    source = submission.sources[module.slug]
    unwritten = unanswered(source.cells, course.api(module).constants)
    completion = Completion(report, (), unwritten, not_right(module, report, unwritten))
    open_items = () if problem else tuple(completion.beyond_checks())
    return ModuleReadiness(module, state, passed, len(report.checks), problem, piece, open_items)


def manifest_of(student: str, done: Sequence[ModuleReadiness]) -> dict[str, Any]:
    """Return the manifest of the zip."""
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
    """Write the zip in one step, verify it, and return its manifest."""
    manifest = manifest_of(student, done)
    work = [one.piece for one in done if one.piece is not None]
    write_bytes_atomically(path, _zip_bytes(work, manifest))
    verify(path, manifest)
    return manifest


def verify(path: Path, manifest: Mapping[str, Any]) -> None:
    """Check that a zip on disk matches its manifest. OSError if not, because the disk is at fault."""
    try:
        with zipfile.ZipFile(path) as archive:
            expected = {f"{name}/{entry['file']}": entry["sha256"] for name, entry in manifest["modules"].items()}
            found = {name: sha256(archive.read(name)) for name in archive.namelist() if name != MANIFEST}
            matches = found == expected and json.loads(archive.read(MANIFEST)) == manifest
    except Exception:  # noqa: BLE001 - any error means that the zip is not what was written
        matches = False
    if not matches:
        raise OSError(f"{path} differs from what was written. Do not hand it in. Run `attn submit` again")


def _zip_bytes(work: Sequence[FileToSubmit], manifest: Mapping[str, Any] | None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for piece in work:
            _add_to_zip(archive, piece.path, piece.data, piece.modified)
        if manifest is not None:
            newest = max((piece.modified for piece in work), default=0.0)
            text = json_text(manifest) + "\n"
            _add_to_zip(archive, MANIFEST, text.encode(), newest)
    return buffer.getvalue()


def _add_to_zip(archive: zipfile.ZipFile, name: str, data: bytes, modified: float) -> None:
    # In UTC, as the grader reads it. A zip supports the years 1980 to 2107.
    moment = time.gmtime(min(max(modified, 315_532_800.0), 4_354_819_198.0))
    info = zipfile.ZipInfo(name, moment[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data)

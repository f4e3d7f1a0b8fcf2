"""Work from a zip that `attn submit` or a web course made, taken over into this copy of the course."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.golden import sha256
from grader.course.module import CourseError, Module
from grader.submission import archive
from grader.submission.archive import ARCHIVE, NOTEBOOK, SCRIPT, UnreadableError
from grader.submission.own_file import own_file
from grader.workspace.backup import is_pristine, replace_work
from grader.workspace.progress import known_student, record_student
from grader.workspace.submit import MANIFEST, SCHEMA, StudentNameError, checked_student
from grader.workspace.update_bundle import UpdateError


@dataclass(frozen=True)
class TakenModule:
    """One module of the zip, and what became of it."""

    name: str
    file: str
    is_here: bool  # whether this course has the module
    is_same: bool = False  # whether this was the student's work already
    backup: str = ""  # where the work before is


def is_work(source: Path) -> bool:
    """Whether a file is a zip with a student's work, and not a bundle."""
    if source.suffix.lower() != ARCHIVE or not source.is_file():
        return False
    try:
        with zipfile.ZipFile(source) as found:
            return MANIFEST in found.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def take_over(course: Course, source: Path) -> tuple[TakenModule, ...]:
    """Replace the student's files by those of a zip, after a backup. A zip that is not complete changes nothing."""
    try:
        entries = archive.read_archive(archive.read_file(source), (SCRIPT, NOTEBOOK, Path(MANIFEST).suffix))
    except UnreadableError as error:
        raise UpdateError(f"{source} {error}") from None
    files = {str(entry.path): entry.data for entry in entries}
    manifest = _read_manifest(source, files)
    wanted = [(name, entry["file"], files[f"{name}/{entry['file']}"]) for name, entry in manifest["modules"].items()]
    taken = tuple(_take(course, name, file, data) for name, file, data in wanted)
    _remember(course, manifest["student"])
    return taken


def _read_manifest(source: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the manifest of a zip; UpdateError unless every file is as the manifest says."""
    try:
        manifest = json.loads(files[MANIFEST])
        found = {f"{name}/{one['file']}": one["sha256"] for name, one in manifest["modules"].items()}
        is_known = manifest["schema"] == SCHEMA and isinstance(manifest["student"], str) and "attnlab" in manifest
    except (KeyError, ValueError, TypeError, AttributeError):
        is_known, found = False, {}
    if not is_known:
        raise UpdateError(f"{source} was not made by `attn submit` or by a web course of this version")
    for path, digest in found.items():
        if path not in files or sha256(files[path]) != digest:
            raise UpdateError(
                f"{source} is not complete: {one_line(path)} is missing or was changed. Download it again"
            )
    return dict(manifest)


def _take(course: Course, name: str, file: str, data: bytes) -> TakenModule:
    module = _module(course, name)
    if module is None or file not in (module.stub.name, module.notebook.name):
        return TakenModule(one_line(name), one_line(file), is_here=False)
    path = own_file(module)
    if path.name == file and path.is_file() and path.read_bytes() == data:
        return TakenModule(name, file, is_here=True, is_same=True)
    change = replace_work(course, module, file, data, backup=not is_pristine(module))
    kept = change.kept.relative_to(course.root).as_posix() if change.kept else ""
    return TakenModule(name, file, is_here=True, backup=kept)


def _module(course: Course, name: str) -> Module | None:
    return next((module for module in course.all_modules if module.name == name), None)


def _remember(course: Course, student: str) -> None:
    """Remember the student's id, if none is known."""
    if known_student(course):
        return
    try:
        record_student(course, checked_student(course, student))
    except (StudentNameError, CourseError):
        return

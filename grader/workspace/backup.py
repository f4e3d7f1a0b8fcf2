"""Backups of a student's work on a module, made before anything replaces it. They are numbered and never deleted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.core.atomic_file import write_atomically, write_bytes_atomically
from grader.course.course import Course
from grader.course.golden import read_golden, sha256
from grader.course.module import Module
from grader.submission.own_file import own_file, stale_twin

COUNTS = "counts.txt"  # has the name of the file that counted, because copying a backup can lose its times
_TIME_STEP_NS = 2_000_000_000  # the coarsest file system in use stores times to two seconds


class NoBackupError(Exception):
    """There is no backup to restore."""


@dataclass(frozen=True)
class FileChange:
    """The changes to a student's files, by name, and the backup of the files before."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: Path | None
    restored: Path | None = None  # the backup that was restored


@dataclass(frozen=True)
class _File:
    """The content of one file, and its modification time, or None for the current time."""

    data: bytes
    mtime_ns: int | None


def is_pristine(module: Module) -> bool:
    """Whether the stub is unchanged and no notebook beside it has other code."""
    if not module.stub.is_file() or sha256(module.stub.read_bytes()) != read_golden(module).stub_sha256:
        return False
    return stale_twin(module) is None


def has_files(module: Module) -> bool:
    """Whether there is a script or a notebook."""
    return bool(_current_files(module))


def reset(course: Course, module: Module) -> FileChange:
    """Restore the original stub, after a backup of script and notebook."""
    stub = read_golden(module).stub.encode()
    kept = keep(course, module)
    return _replace(module, {module.stub.name: _File(stub, None)}, kept)


def undo(course: Course, module: Module) -> FileChange:
    """Restore the newest backup, after a backup of the current files. The same file counts as before."""
    newest = _newest(course, module)
    if newest is None:
        raise NoBackupError(f"there is no backup of {module.name} to restore")
    names = (module.stub.name, module.notebook.name)
    files = {name: _read(newest / name) for name in names if (newest / name).is_file()}
    if not files:
        raise NoBackupError(f"the newest backup, {newest.relative_to(course.root)}, has no file of {module.name}")
    counted = _counting_name(newest, files)
    here = _current_files(module)
    if {name: one.data for name, one in here.items()} == {name: one.data for name, one in files.items()}:
        _make_count(module, counted)
        return FileChange((), (), None)
    change = _replace(module, files, keep(course, module))
    _make_count(module, counted)
    return replace(change, restored=newest)


def replace_work(course: Course, module: Module, name: str, data: bytes, *, backup: bool) -> FileChange:
    """Make a file with this name and content the student's only file of a module, after a backup if wanted."""
    kept = keep(course, module) if backup else None
    return _replace(module, {name: _File(data, None)}, kept)


def keep(course: Course, module: Module) -> Path | None:
    """Copy script and notebook into a new backup and return its path; None if there are no files."""
    files = _current_files(module)
    if not files:
        return None
    folder = _backup_folder(course, module)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
        draft = Path(temporary) / "backup"
        for name, one in files.items():
            _write(draft / name, one)
        write_atomically(draft / COUNTS, own_file(module).name + "\n")
        backup = folder / f"{max(_numbers(folder), default=0) + 1:04d}"
        draft.rename(backup)  # in one step, so that a backup is never incomplete
    return backup


def _replace(module: Module, files: Mapping[str, _File], kept: Path | None) -> FileChange:
    """Make these the student's only files of a module. If that fails, restore the old ones."""
    before = _current_files(module)
    try:
        removed = _write_only(module, files)
    except BaseException:
        _write_only(module, before)
        raise
    return FileChange(tuple(files), removed, kept)


def _write_only(module: Module, files: Mapping[str, _File]) -> tuple[str, ...]:
    removed = tuple(name for name in _current_files(module) if name not in files)
    for name in removed:  # first, because another program may have the file open and block this
        (module.folder / name).unlink()
    for name, one in files.items():
        _write(module.folder / name, one)
    return removed


def _write(path: Path, file: _File) -> None:
    write_bytes_atomically(path, file.data)
    if file.mtime_ns is not None:
        os.utime(path, ns=(file.mtime_ns, file.mtime_ns))


def _read(path: Path) -> _File:
    return _File(path.read_bytes(), path.stat().st_mtime_ns)


def _current_files(module: Module) -> dict[str, _File]:
    return {path.name: _read(path) for path in (module.stub, module.notebook) if path.is_file()}


def _counting_name(backup: Path, files: Mapping[str, _File]) -> str:
    """Return the name of the file that counted at the time of a backup."""
    try:
        name = (backup / COUNTS).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    return name if name in files else max(files, key=lambda one: files[one].mtime_ns or 0)


def _make_count(module: Module, name: str) -> None:
    """Make a file the one that counts, if times were lost or are too coarse."""
    if own_file(module).name != name:
        latest = max(path.stat().st_mtime_ns for path in (module.stub, module.notebook) if path.is_file())
        os.utime(module.folder / name, ns=(latest + _TIME_STEP_NS, latest + _TIME_STEP_NS))


def _backup_folder(course: Course, module: Module) -> Path:
    return course.root / ".attnlab" / "backups" / module.name


def _numbers(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.glob("*") if path.name.isascii() and path.name.isdigit()]


def _newest(course: Course, module: Module) -> Path | None:
    folder = _backup_folder(course, module)
    backups = [path for path in folder.glob("*") if path.name.isascii() and path.name.isdigit()]
    return max(backups, key=lambda path: int(path.name), default=None)

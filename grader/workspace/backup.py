"""Backups of a student's own work on a module: made before anything is put in its place, numbered, never deleted."""

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

COUNTS = "counts.txt"  # the name of the file that counted: a copied backup may have lost its times
_STEP_NS = 2_000_000_000  # the coarsest file system we meet keeps times to two seconds


class NoBackupError(Exception):
    """There is nothing to go back to."""


@dataclass(frozen=True)
class FileChange:
    """What was done to a student's files: by name, and where what was there before is kept."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: Path | None
    restored: Path | None = None  # the backup that was put back


@dataclass(frozen=True)
class _File:
    """One file of the student's: its content, and its time if that is not to be now."""

    data: bytes
    mtime_ns: int | None


def is_pristine(module: Module) -> bool:
    """Whether the stub is as it was given out, and no notebook beside it holds other code."""
    if not module.stub.is_file() or sha256(module.stub.read_bytes()) != read_golden(module).stub_sha256:
        return False
    return stale_twin(module) is None


def has_files(module: Module) -> bool:
    """Whether there is a script or a notebook at all."""
    return bool(_present(module))


def reset(course: Course, module: Module) -> FileChange:
    """Put the pristine stub back; script and notebook are kept in a backup first."""
    stub = read_golden(module).stub.encode()
    kept = keep(course, module)
    return _replace(module, {module.stub.name: _File(stub, None)}, kept)


def undo(course: Course, module: Module) -> FileChange:
    """Put the newest backup back, the same file counting as then; what is there now is kept as a newer one."""
    newest = _newest(course, module)
    if newest is None:
        raise NoBackupError(f"there is no backup of {module.name} to go back to")
    names = (module.stub.name, module.notebook.name)
    files = {name: _read(newest / name) for name in names if (newest / name).is_file()}
    if not files:
        raise NoBackupError(f"the newest backup, {newest.relative_to(course.root)}, holds no file of {module.name}")
    counted = _counted(newest, files)
    here = _present(module)
    if {name: one.data for name, one in here.items()} == {name: one.data for name, one in files.items()}:
        _make_count(module, counted)
        return FileChange((), (), None)
    change = _replace(module, files, keep(course, module))
    _make_count(module, counted)
    return replace(change, restored=newest)


def keep(course: Course, module: Module) -> Path | None:
    """Copy script and notebook into a new backup and return it; None if there is neither."""
    files = _present(module)
    if not files:
        return None
    folder = _folder(course, module)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
        made = Path(temporary) / "backup"
        for name, one in files.items():
            _write(made / name, one)
        write_atomically(made / COUNTS, own_file(module).name + "\n")
        place = folder / f"{max(_numbers(folder), default=0) + 1:04d}"
        made.rename(place)  # whole, or not there
    return place


def _replace(module: Module, files: Mapping[str, _File], kept: Path | None) -> FileChange:
    """Make these the student's only files of a module; if that fails, all is as it was."""
    before = _present(module)
    try:
        removed = _make(module, files)
    except BaseException:
        _make(module, before)
        raise
    return FileChange(tuple(files), removed, kept)


def _make(module: Module, files: Mapping[str, _File]) -> tuple[str, ...]:
    surplus = tuple(name for name in _present(module) if name not in files)
    for name in surplus:  # first, as it is what an open program may refuse
        (module.folder / name).unlink()
    for name, one in files.items():
        _write(module.folder / name, one)
    return surplus


def _write(path: Path, file: _File) -> None:
    write_bytes_atomically(path, file.data)
    if file.mtime_ns is not None:
        os.utime(path, ns=(file.mtime_ns, file.mtime_ns))


def _read(path: Path) -> _File:
    return _File(path.read_bytes(), path.stat().st_mtime_ns)


def _present(module: Module) -> dict[str, _File]:
    return {path.name: _read(path) for path in (module.stub, module.notebook) if path.is_file()}


def _counted(backup: Path, files: Mapping[str, _File]) -> str:
    """Return the name of the file that counted when a backup was made."""
    try:
        name = (backup / COUNTS).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    return name if name in files else max(files, key=lambda one: files[one].mtime_ns or 0)


def _make_count(module: Module, name: str) -> None:
    """See that a file is the one that counts, where times were lost or are too coarse to say so."""
    if own_file(module).name != name:
        latest = max(path.stat().st_mtime_ns for path in (module.stub, module.notebook) if path.is_file())
        os.utime(module.folder / name, ns=(latest + _STEP_NS, latest + _STEP_NS))


def _folder(course: Course, module: Module) -> Path:
    return course.root / ".attnlab" / "backups" / module.name


def _numbers(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.glob("*") if path.name.isascii() and path.name.isdigit()]


def _newest(course: Course, module: Module) -> Path | None:
    folder = _folder(course, module)
    places = [path for path in folder.glob("*") if path.name.isascii() and path.name.isdigit()]
    return max(places, key=lambda path: int(path.name), default=None)

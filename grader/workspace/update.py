"""Updates of a student's bundle: the course's files are replaced, the student's work is kept."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.core.atomic_file import write_bytes_atomically
from grader.course.course import Course
from grader.workspace.progress import forget_tests
from grader.workspace.update_bundle import NewerBundle, UpdateError, read_bundle, stage_course
from grader.workspace.update_plan import FileWrite, ModuleUpdate, plan_module, plan_other_files


@dataclass(frozen=True)
class Update:
    """The changes to a course."""

    modules: tuple[ModuleUpdate, ...]
    left_alone: tuple[str, ...]  # modules that the newer bundle does not have
    others: tuple[str, ...]  # files outside `modules/`
    install: str  # the command that installs the bundle's attn, if it is newer


def update(course: Course, source: Path) -> Update:
    """Update a student's bundle from a newer one. On any error nothing changes."""
    _require_bundle(course)
    return take_bundle(course, read_bundle(source, course))


def take_bundle(course: Course, bundle: NewerBundle) -> Update:
    """Update a student's bundle from a newer one that was read."""
    _require_bundle(course)
    state = course.root / ".attnlab"  # on the same file system, so that replacing a file is one step
    state.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state, prefix="update-") as temporary:
        newer = stage_course(course, bundle, Path(temporary) / "course")
        plans = [plan_module(course, newer.module(name), bundle) for name in bundle.module_names]
        others = list(plan_other_files(course, bundle))
        writes = [write for _, module_writes in plans for write in module_writes]
        _replace_all([*writes, *others], Path(temporary) / "files")
    modules = tuple(module for module, _ in plans)
    forget_tests(course, {module.name for module in modules if {"checks", "settings"} & set(module.updated)})
    return Update(
        modules,
        tuple(one.name for one in course.modules if bundle.module_names and one.name not in bundle.module_names),
        tuple(write.target.relative_to(course.root).as_posix() for write in others),
        bundle.install_command if bundle.has_newer_tool else "",
    )


def _require_bundle(course: Course) -> None:
    if not course.is_bundle:
        raise UpdateError(f"{course.root} is a clone of the full course, not a bundle: update it with `git pull`")


def _replace_all(writes: list[FileWrite], staged: Path) -> None:
    """Replace files one by one, each in one step. If one fails, restore those before it."""
    for number, write in enumerate(writes):
        _write(staged / str(number), write)
    before: list[FileWrite] = []
    added: list[Path] = []
    try:
        for number, write in enumerate(writes):
            if write.target.exists():
                before.append(FileWrite(write.target, write.target.read_bytes(), write.target.stat().st_mtime_ns))
            else:
                added.append(write.target)
                write.target.parent.mkdir(parents=True, exist_ok=True)
            (staged / str(number)).replace(write.target)
    except BaseException as error:
        _restore(before, added)
        if isinstance(error, OSError):
            raise OSError(f"{error}; nothing was changed") from error
        raise


def _restore(before: list[FileWrite], added: list[Path]) -> None:
    for write in before:
        _write(write.target, write)
    for path in added:
        path.unlink(missing_ok=True)
    for folder in {path.parent for path in added}:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _write(path: Path, write: FileWrite) -> None:
    write_bytes_atomically(path, write.data)
    if write.mtime_ns is not None:
        os.utime(path, ns=(write.mtime_ns, write.mtime_ns))

"""The plan of an update: which files to write, and which of the student's files to keep."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course.course import Course
from grader.course.course_file import COURSE_FILE
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module
from grader.course.notebook import make_notebook
from grader.workspace.update_bundle import AGENTS, CONSTRAINTS, MODULE_FILES, README, NewerBundle, is_beside_lesson

# Not `<slug>.new.py`: in a module's folder any script may be taken for a submission if the right one is missing.
BESIDE = ".new"


@dataclass(frozen=True)
class ModuleUpdate:
    """The changes to one module."""

    name: str
    is_new: bool
    updated: tuple[str, ...]  # the files that come from the course, in words
    renewed: tuple[str, ...]  # the student's untouched files, replaced by the new stub
    kept: tuple[str, ...]  # the files that the student worked in
    beside: str  # the file with the new stub, if a kept file was made from an older stub


@dataclass(frozen=True)
class FileWrite:
    """One file to write."""

    target: Path
    data: bytes
    mtime_ns: int | None = None  # None for the current time


@dataclass(frozen=True)
class _OwnFiles:
    """The plan for the student's own files of one module."""

    writes: list[FileWrite]
    renewed: tuple[str, ...]
    kept: tuple[str, ...]
    beside: str


def plan_module(course: Course, newer: Module, bundle: NewerBundle) -> tuple[ModuleUpdate, list[FileWrite]]:
    """Return the changes to one module, and the files to write for it, golden.json last."""
    folder = course.root / "modules" / newer.name
    here = next((module for module in course.all_modules if module.name == newer.name), None)
    own = _plan_own_files(newer.slug, folder, _old_stub(here), read_golden(newer).stub)
    words = dict.fromkeys(newer.fallback.values(), "fallback") | _beside_lesson(newer, bundle) | MODULE_FILES
    given = {name: bundle.files[f"modules/{newer.name}/{name}"] for name in words}
    changed = [name for name, data in given.items() if here is None or _content(here.folder / name) != data]
    updated = tuple(dict.fromkeys(words[name] for name in changed))
    plan = ModuleUpdate(newer.name, here is None, updated, own.renewed, own.kept, own.beside)
    return plan, [*own.writes, *(FileWrite(folder / name, given[name]) for name in changed)]


def plan_other_files(course: Course, bundle: NewerBundle) -> Iterator[FileWrite]:
    """Yield the files outside `modules/`: a newer attn, and a README that covers every module here."""
    names = [AGENTS, COURSE_FILE]
    if bundle.has_newer_tool:
        names += [bundle.wheel, CONSTRAINTS]
    if not bundle.wheel:  # the course of an installed AttnLab
        names.append(CONSTRAINTS)
    if all(module.name in bundle.module_names for module in course.modules):
        names.append(README)
    for name in (*names, *bundle.published):
        path = course.root / name
        if name in bundle.files and _content(path) != bundle.files[name]:
            yield FileWrite(path, bundle.files[name])


def _plan_own_files(slug: str, folder: Path, old_stub: str | None, new_stub: str) -> _OwnFiles:
    """Replace the student's untouched files with the new stub, and keep all others."""
    writes: list[FileWrite] = []
    kept: list[str] = []
    up_to_date = False  # whether a script or notebook has the new stub and no work in it
    kinds: tuple[tuple[str, Callable[[str], str], Callable[[bytes], Any]], ...] = (
        (f"{slug}.py", lambda stub: stub, _script_text),
        (f"{slug}.ipynb", lambda stub: make_notebook(stub, slug), _notebook_cells),
    )
    for name, from_stub, read in kinds:
        path = folder / name
        if not path.is_file():
            continue
        content = read(path.read_bytes())
        if content == read(from_stub(new_stub).encode()):
            up_to_date = True
        elif old_stub is not None and content == read(from_stub(old_stub).encode()):
            up_to_date = True
            # The old time stays, so that the update does not change whether the script or the notebook counts.
            writes.append(FileWrite(path, from_stub(new_stub).encode(), path.stat().st_mtime_ns))
        else:
            kept.append(path.name)
    renewed = tuple(write.target.name for write in writes)
    if not kept and not up_to_date:
        writes.append(FileWrite(folder / f"{slug}.py", new_stub.encode()))
    if not kept or up_to_date or old_stub == new_stub:
        return _OwnFiles(writes, renewed, tuple(kept), "")
    stubs = {text.encode() for text in (old_stub or new_stub, new_stub)}
    beside = _free_path(folder / f"{slug}.py{BESIDE}", stubs)
    return _OwnFiles([*writes, FileWrite(beside, new_stub.encode())], renewed, tuple(kept), beside.name)


def _free_path(path: Path, stubs: set[bytes]) -> Path:
    """Return a path with no file, or with an unchanged stub: the student may have worked in an earlier copy."""
    number = 1
    while True:
        candidate = path if number == 1 else path.with_name(f"{path.name}{number}")
        if not candidate.exists() or (candidate.is_file() and candidate.read_bytes() in stubs):
            return candidate
        number += 1


def _beside_lesson(module: Module, bundle: NewerBundle) -> dict[str, str]:
    """Return the names of the files that the new lesson shows or links to. All of them are part of the lesson."""
    folder = f"modules/{module.name}/"
    files = [name.removeprefix(folder) for name in bundle.files if name.startswith(folder)]
    return {file: "lesson" for file in files if is_beside_lesson(file)}


def _old_stub(here: Module | None) -> str | None:
    try:
        return read_golden(here).stub if here else None
    except CourseError:  # then every file counts as the student's work: the update may be what repairs the module
        return None


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _script_text(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _notebook_cells(data: bytes) -> Any:
    """Return the kind and text of every cell, markdown too because notes are work; None if it cannot be read."""
    try:
        cells = json.loads(data.decode("utf-8-sig"))["cells"]
        return [(cell["cell_type"], "".join(cell["source"]).strip()) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None

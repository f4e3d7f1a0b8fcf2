"""A student's progress: what the last test of each module said, in one file, for the screens and never for grades."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from grader.course import Course
from grader.files import write_atomically
from grader.golden import read_golden, sha256
from grader.module import Module

State = Literal["untouched", "started", "failing", "passing"]


@dataclass(frozen=True)
class Tested:
    """The last test of a module: of which file, and how many visible checks passed."""

    file_sha256: str
    passed: int
    total: int


@dataclass(frozen=True)
class Standing:
    """Where a student stands with a module."""

    module: Module
    state: State
    tested: Tested | None


def own_file(module: Module) -> Path:
    """Return the file a student works on: script or notebook, whichever changed last."""
    files = [path for path in (module.stub, module.notebook) if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime, default=module.stub)


def standings(course: Course) -> list[Standing]:
    """Return where the student stands with every module, without running anything."""
    tested = _read(course)
    return [_standing(module, tested.get(module.name)) for module in course.modules]


def record(course: Course, module: Module, passed: int, total: int) -> None:
    """Note what a test of the student's file said."""
    tested = _read(course) | {module.name: Tested(sha256(own_file(module).read_bytes()), passed, total)}
    document = {"schema": 1, "modules": {name: asdict(one) for name, one in sorted(tested.items())}}
    write_atomically(_path(course), json.dumps(document, indent=1) + "\n")


def _standing(module: Module, tested: Tested | None) -> Standing:
    path = own_file(module)
    now = sha256(path.read_bytes()) if path.is_file() else ""
    if path == module.stub and now == read_golden(module).stub_sha256:
        return Standing(module, "untouched", None)
    if tested is None or tested.file_sha256 != now:
        return Standing(module, "started", None)
    return Standing(module, "passing" if tested.passed == tested.total else "failing", tested)


def _path(course: Course) -> Path:
    return course.root / ".attnlab" / "progress.json"


def _read(course: Course) -> dict[str, Tested]:
    """Return what is noted; a file that cannot be read is only a screen less, never an error."""
    try:
        modules = json.loads(_path(course).read_text(encoding="utf-8"))["modules"]
        return {str(name): Tested(**entry) for name, entry in modules.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}

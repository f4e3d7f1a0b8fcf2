"""A student's progress: what the last test of each module said, in one file, for the screens and never for grades."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from grader.course import Course
from grader.files import write_atomically
from grader.golden import read_golden, sha256
from grader.hints import TIERS
from grader.module import Module

State = Literal["untouched", "started", "failing", "passing"]


@dataclass(frozen=True)
class Tested:
    """The last test of a module: of which file, and how many visible checks passed."""

    file_sha256: str
    passed: int
    total: int
    function: str = ""  # where the first failure is


@dataclass(frozen=True)
class Given:
    """The last hint that was given: about which function, which tier, and when the file was which."""

    function: str
    tier: int
    file_sha256: str


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
    noted = _read(course)
    return [_standing(module, noted.modules.get(module.name)) for module in course.modules]


def record(course: Course, module: Module, passed: int, total: int, function: str = "") -> None:
    """Note what a test of the student's file said, and in which function its first failure is."""
    noted = _read(course)
    tested = Tested(_now(module), passed, total, function)
    _write(course, replace(noted, modules=noted.modules | {module.name: tested}))


def next_hint(course: Course, module: Module) -> Given | None:
    """Return which hint is due: the next tier after an edit and another failing run, else the same once more.

    None unless the last test was of the file as it is now, and failed.
    """
    noted = _read(course)
    tested, given = noted.modules.get(module.name), noted.hints.get(module.name)
    if tested is None or tested.passed == tested.total or tested.file_sha256 != _now(module):
        return None
    if given is None or given.function != tested.function:
        return Given(tested.function, 1, tested.file_sha256)
    edited = given.file_sha256 != tested.file_sha256
    return Given(given.function, min(given.tier + edited, len(TIERS)), tested.file_sha256)


def record_hint(course: Course, module: Module, given: Given) -> None:
    """Note that a hint was given."""
    noted = _read(course)
    _write(course, replace(noted, hints=noted.hints | {module.name: given}))


@dataclass(frozen=True)
class _Noted:
    """The whole file."""

    modules: dict[str, Tested]
    hints: dict[str, Given]


def _now(module: Module) -> str:
    path = own_file(module)
    return sha256(path.read_bytes()) if path.is_file() else ""


def _standing(module: Module, tested: Tested | None) -> Standing:
    path = own_file(module)
    now = _now(module)
    if path == module.stub and now == read_golden(module).stub_sha256:
        return Standing(module, "untouched", None)
    if tested is None or tested.file_sha256 != now:
        return Standing(module, "started", None)
    return Standing(module, "passing" if tested.passed == tested.total else "failing", tested)


def _path(course: Course) -> Path:
    return course.root / ".attnlab" / "progress.json"


def _write(course: Course, noted: _Noted) -> None:
    document = {
        "schema": 1,
        "modules": {name: asdict(one) for name, one in sorted(noted.modules.items())},
        "hints": {name: asdict(one) for name, one in sorted(noted.hints.items())},
    }
    write_atomically(_path(course), json.dumps(document, indent=1) + "\n")


def _read(course: Course) -> _Noted:
    """Return what is noted; a file that cannot be read is only a screen less, never an error."""
    try:
        document = json.loads(_path(course).read_text(encoding="utf-8"))
        modules = {str(name): Tested(**entry) for name, entry in document["modules"].items()}
        hints = {str(name): Given(**entry) for name, entry in document.get("hints", {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _Noted({}, {})
    return _Noted(modules, hints)

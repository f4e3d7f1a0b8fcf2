"""A student's progress: what the last test of each module said, in one file, for the screens and never for grades."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.golden import sha256
from grader.course.hints import TIERS
from grader.course.module import Module
from grader.submission.own_file import is_untouched, own_sha256

if TYPE_CHECKING:
    from grader.core.report import Report

ProgressState = Literal["untouched", "started", "failing", "passing"]


@dataclass(frozen=True)
class LastTest:
    """The last test of a module: of which work, and how many visible checks passed."""

    file_sha256: str
    passed: int
    total: int
    function: str = ""  # where the first failure is


@dataclass(frozen=True)
class HintGiven:
    """The last hint that was given: about which function, which tier, and when the file was which."""

    function: str
    tier: int
    file_sha256: str


@dataclass(frozen=True)
class ModuleProgress:
    """Where a student stands with a module."""

    module: Module
    state: ProgressState
    tested: LastTest | None
    completed: bool  # at some time; what was written since may be anything
    missing: tuple[str, ...]  # what it builds on and is not completed: until then it is locked


def all_progress(course: Course) -> list[ModuleProgress]:
    """Return where the student stands with every module, without running anything."""
    noted = _read(course)
    here = {module.name for module in course.modules}  # a bundle may lack what a module builds on
    return [
        _progress_of(
            course, module, noted, tuple(name for name in module.requires if name in here - noted.completed.keys())
        )
        for module in course.modules
    ]


def progress_of(course: Course, module: Module) -> ModuleProgress:
    """Return where the student stands with one module."""
    return next(one for one in all_progress(course) if one.module == module)


def record(course: Course, module: Module, passed: int, total: int, function: str = "") -> None:
    """Note what a test of the student's file said, and in which function its first failure is."""
    noted = _read(course)
    tested = LastTest(_work_sha256(course, module), passed, total, function)
    _write(course, replace(noted, modules=noted.modules | {module.name: tested}))


def record_report(course: Course, module: Module, report: Report) -> None:
    """Note what a report on the student's file said; a fault of ours says nothing about it."""
    if report.score is None:
        return
    passed = sum(check.outcome == "passed" for check in report.checks)
    stuck = [one.function for one in report.diagnoses if one.function]
    failed = [check.target for check in report.checks if check.outcome != "passed"]
    record(course, module, passed, len(report.checks), next(iter(stuck + failed), ""))


def forget_tests(course: Course, names: Collection[str]) -> None:
    """Forget the last tests of some modules: their checks are not the same any more."""
    noted = _read(course)
    kept = {name: tested for name, tested in noted.modules.items() if name not in names}
    if kept != noted.modules:
        _write(course, replace(noted, modules=kept))


def next_hint(course: Course, module: Module) -> HintGiven | None:
    """Return which hint is due: the next tier after an edit and another failing run, else the same once more.

    None unless the last test was of the work as it is now, and found something.
    """
    noted = _read(course)
    tested, given = noted.modules.get(module.name), noted.hints.get(module.name)
    if tested is None or tested.file_sha256 != _work_sha256(course, module):
        return None
    if tested.passed == tested.total and not tested.function:
        return None
    if given is None or given.function != tested.function:
        return HintGiven(tested.function, 1, tested.file_sha256)
    edited = given.file_sha256 != tested.file_sha256
    return HintGiven(given.function, min(given.tier + edited, len(TIERS)), tested.file_sha256)


def record_hint(course: Course, module: Module, given: HintGiven) -> None:
    """Note that a hint was given."""
    noted = _read(course)
    _write(course, replace(noted, hints=noted.hints | {module.name: given}))


def record_completed(course: Course, module: Module) -> None:
    """Note that a module is done: it unlocks those that build on it."""
    noted = _read(course)
    _write(course, replace(noted, completed=noted.completed | {module.name: own_sha256(module)}))


def known_student(course: Course) -> str:
    """Return who is working here, if they ever said so."""
    return _read(course).student


def record_student(course: Course, student: str) -> None:
    """Note who is working here."""
    _write(course, replace(_read(course), student=student))


@dataclass(frozen=True)
class _ProgressFile:
    """The whole file."""

    modules: dict[str, LastTest]
    hints: dict[str, HintGiven]
    completed: dict[str, str]  # by module, the hash of the file that was
    student: str


def _work_sha256(course: Course, module: Module) -> str:
    """Return the hash of a student's work up to a module: it may import what comes before it."""
    upto = [one for one in course.modules if one.order <= module.order]
    return sha256("".join(own_sha256(one) for one in upto).encode())


def _progress_of(course: Course, module: Module, noted: _ProgressFile, missing: tuple[str, ...]) -> ModuleProgress:
    tested = noted.modules.get(module.name)
    completed = module.name in noted.completed
    if is_untouched(module):
        return ModuleProgress(module, "untouched", None, completed, missing)
    if tested is None or tested.file_sha256 != _work_sha256(course, module):
        return ModuleProgress(module, "started", None, completed, missing)
    state: ProgressState = "passing" if tested.passed == tested.total else "failing"
    return ModuleProgress(module, state, tested, completed, missing)


def _path(course: Course) -> Path:
    return course.root / ".attnlab" / "progress.json"


def _write(course: Course, noted: _ProgressFile) -> None:
    document = {
        "schema": 1,
        "modules": {name: asdict(one) for name, one in sorted(noted.modules.items())},
        "hints": {name: asdict(one) for name, one in sorted(noted.hints.items())},
        "completed": dict(sorted(noted.completed.items())),
        "student": noted.student,
    }
    path = _path(course)
    if path.is_file() and _read(course) == _ProgressFile({}, {}, {}, ""):  # something is there that we cannot read
        path.replace(path.with_suffix(".json.bad"))
    write_atomically(path, json.dumps(document, indent=1) + "\n")


def _read(course: Course) -> _ProgressFile:
    """Return what is noted; a file that cannot be read is only a screen less, never an error."""
    try:
        document = json.loads(_path(course).read_text(encoding="utf-8"))
        modules = {str(name): LastTest(**entry) for name, entry in document["modules"].items()}
        hints = {str(name): HintGiven(**entry) for name, entry in document.get("hints", {}).items()}
        completed = {str(name): str(file) for name, file in document.get("completed", {}).items()}
        student = str(document.get("student", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _ProgressFile({}, {}, {}, "")
    return _ProgressFile(modules, hints, completed, student)

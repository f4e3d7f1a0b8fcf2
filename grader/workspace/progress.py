"""A student's progress: the last test of each module, in one file. It is for the screens, not for grades."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.course.course import Course
from grader.course.golden import sha256
from grader.course.module import Module
from grader.submission.own_file import is_untouched, own_sha256

if TYPE_CHECKING:
    from grader.core.report import Report

ProgressState = Literal["untouched", "started", "failing", "passing"]


@dataclass(frozen=True)
class LastTest:
    """The last test of a module: the hash of the work, and how many visible checks passed."""

    file_sha256: str
    passed: int
    total: int
    function: str = ""  # the function with the first failure
    points: float | None = None  # of the visible checks; None in a file of an older version
    mistake: str = ""  # the name of the misconception that was told first
    holding: int = 0  # stated properties that hold
    stated: int = 0
    questions: int | None = None  # under Reflect; None in a file of an older version
    unanswered: int = 0


@dataclass(frozen=True)
class HintGiven:
    """The last hint that was shown: its function, its tier, the hash of the work at that time, and the mistake."""

    function: str
    tier: int
    file_sha256: str
    mistake: str = ""  # the name of a misconception


@dataclass(frozen=True)
class ModuleProgress:
    """A student's progress on one module."""

    module: Module
    state: ProgressState
    tested: LastTest | None
    completed: bool  # at some time; the file may have changed since
    missing: tuple[str, ...]  # required modules that are not completed; until then it is locked


def all_progress(course: Course) -> list[ModuleProgress]:
    """Return the progress on every module that is not optional, without running anything."""
    return _progress(course, course.modules)


def progress_of(course: Course, module: Module) -> ModuleProgress:
    """Return the progress on one module."""
    return _progress(course, (module,))[0]


def _progress(course: Course, modules: Iterable[Module]) -> list[ModuleProgress]:
    recorded, own = _read(course), _own_hashes(course)
    here = {module.name for module in course.modules}  # a bundle may lack required modules
    return [
        _progress_of(
            own,
            module,
            recorded,
            tuple(name for name in module.requires if name in here - recorded.completed.keys()),
        )
        for module in modules
    ]


def record_report(course: Course, module: Module, report: Report) -> None:
    """Record a report on the student's file. A grader fault is not recorded."""
    if report.score is None:
        return
    failed = [check.target for check in report.checks if check.outcome != "passed"]
    from grader.core.first_thing import first_thing  # `attn status` does not need these
    from grader.core.report import Diagnosis
    from grader.workspace.reflect import questions_of, unanswered_in

    first = first_thing(report)
    told = first if isinstance(first, Diagnosis) else None
    function = (told.function or told.target) if told else first.target if first else next(iter(failed), "")
    mistake = (told and told.misconception) or ""
    tested = LastTest(
        _work_sha256(_own_hashes(course), module),
        len(report.checks) - len(failed),
        len(report.checks),
        function,
        report.score,
        mistake,
        sum(one.hold for one in report.properties),
        sum(one.total for one in report.properties),
        len(questions_of(module)),
        len(unanswered_in(module)),
    )
    recorded = _read(course)
    _write(course, replace(recorded, modules=recorded.modules | {module.name: tested}))


def forget_tests(course: Course, names: Collection[str]) -> None:
    """Forget the last tests of some modules, because their checks have changed."""
    recorded = _read(course)
    kept = {name: tested for name, tested in recorded.modules.items() if name not in names}
    if kept != recorded.modules:
        _write(course, replace(recorded, modules=kept))


def next_hint(course: Course, module: Module) -> HintGiven | None:
    """Return the hint to show: the next tier after an edit and another failed test, otherwise the same one again.

    None unless the last test was of the current work and failed.
    """
    from grader.course.hints import TIERS  # `attn status` gives none

    recorded = _read(course)
    tested, given = recorded.modules.get(module.name), recorded.hints.get(module.name)
    if tested is None or tested.file_sha256 != _work_sha256(_own_hashes(course), module):
        return None
    if tested.passed == tested.total and not tested.function:
        return None
    about = (tested.function, tested.mistake)
    if given is None or (given.function, given.mistake) != about:
        return HintGiven(tested.function, 1, tested.file_sha256, tested.mistake)
    edited = given.file_sha256 != tested.file_sha256
    return HintGiven(given.function, min(given.tier + edited, len(TIERS)), tested.file_sha256, given.mistake)


def record_hint(course: Course, module: Module, given: HintGiven) -> None:
    """Record that a hint was shown."""
    recorded = _read(course)
    _write(course, replace(recorded, hints=recorded.hints | {module.name: given}))


def record_completed(course: Course, module: Module) -> None:
    """Record that a module is completed. This unlocks the modules that require it."""
    recorded = _read(course)
    _write(course, replace(recorded, completed=recorded.completed | {module.name: own_sha256(module)}))


def completed_modules(course: Course) -> list[Module]:
    """Return the modules of the course that were completed at some time. It reads one small file."""
    names = _read(course).completed
    return [module for module in course.modules if module.name in names]


def known_student(course: Course) -> str:
    """Return the student's id; empty if they never gave it."""
    return _read(course).student


def record_student(course: Course, student: str) -> None:
    """Record the student's id."""
    _write(course, replace(_read(course), student=student))


@dataclass(frozen=True)
class _ProgressFile:
    """The content of the progress file."""

    modules: dict[str, LastTest]
    hints: dict[str, HintGiven]
    completed: dict[str, str]  # by module, the hash of the completed file
    student: str


def _own_hashes(course: Course) -> dict[int, str]:
    """Return the hashes of a student's own files, by the order of their modules."""
    return {one.order: own_sha256(one) for one in course.modules}


def _work_sha256(own: Mapping[int, str], module: Module) -> str:
    """Return the hash of a student's work up to a module, which may import earlier modules."""
    return sha256("".join(one for order, one in own.items() if order <= module.order).encode())


def _progress_of(
    own: Mapping[int, str], module: Module, recorded: _ProgressFile, missing: tuple[str, ...]
) -> ModuleProgress:
    tested = recorded.modules.get(module.name)
    completed = module.name in recorded.completed
    if is_untouched(module):
        return ModuleProgress(module, "untouched", None, completed, missing)
    if tested is None or tested.file_sha256 != _work_sha256(own, module):
        return ModuleProgress(module, "started", None, completed, missing)
    state: ProgressState = "passing" if tested.passed == tested.total else "failing"
    return ModuleProgress(module, state, tested, completed, missing)


def _path(course: Course) -> Path:
    return course.root / ".attnlab" / "progress.json"


def _write(course: Course, recorded: _ProgressFile) -> None:
    from grader.core.atomic_file import write_atomically  # slow to import, and `attn status` writes nothing

    document = {
        "schema": 1,
        "modules": {name: asdict(one) for name, one in sorted(recorded.modules.items())},
        "hints": {name: asdict(one) for name, one in sorted(recorded.hints.items())},
        "completed": dict(sorted(recorded.completed.items())),
        "student": recorded.student,
    }
    path = _path(course)
    if path.is_file() and _read(course) == _ProgressFile({}, {}, {}, ""):  # there is a file that we cannot read
        path.replace(path.with_suffix(".json.bad"))
    write_atomically(path, json.dumps(document, indent=1) + "\n")


def _read(course: Course) -> _ProgressFile:
    """Return the recorded progress. A file that cannot be read counts as empty and is never an error."""
    try:
        document = json.loads(_path(course).read_text(encoding="utf-8"))
        modules = {str(name): LastTest(**entry) for name, entry in document["modules"].items()}
        hints = {str(name): HintGiven(**entry) for name, entry in document.get("hints", {}).items()}
        completed = {str(name): str(file) for name, file in document.get("completed", {}).items()}
        student = str(document.get("student", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _ProgressFile({}, {}, {}, "")
    return _ProgressFile(modules, hints, completed, student)

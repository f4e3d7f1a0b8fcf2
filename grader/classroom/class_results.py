"""The results of a class for statistics: what each student failed and believes, without the texts of the reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.journal import read_journal
from grader.classroom.marks import NO_REPORT, Mark
from grader.classroom.pseudonyms import Pseudonyms
from grader.classroom.results import report_path
from grader.classroom.saved_marks import JOURNAL, SavedMarksError, read_marks
from grader.core.report import Report, file_name, report_from
from grader.core.summary import summary_of


class ClassResultsError(Exception):
    """A results folder that cannot be summed up, and what to do about it."""


@dataclass(frozen=True)
class CheckInfo:
    """A check or a cost of a module."""

    name: str
    kind: str  # visible, hidden, gpu or cost
    target: str
    property: str
    points: float


@dataclass(frozen=True)
class StudentResult:
    """The mark of one student for one module, with what the report says. `failed` is empty if nothing was checked."""

    mark: Mark
    failed: frozenset[str] = frozenset()
    misconceptions: tuple[str, ...] = ()
    to_look_at: str = ""
    undecided_points: float = 0.0

    @property
    def was_checked(self) -> bool:
        """Whether the checks ran, so that failing one means something."""
        return self.mark.status == "graded"


@dataclass(frozen=True)
class AttemptResult:
    """One of several attempts of a student at a module."""

    student: str
    module: str
    handed_in: str
    score: float | None
    misconceptions: tuple[str, ...]


@dataclass(frozen=True)
class ClassResults:
    """Everything about a class that its dashboard shows. `before` has the marks of the grading before this one."""

    results: tuple[StudentResult, ...]
    checks: Mapping[str, Mapping[str, CheckInfo]]  # by module and name
    attempts: tuple[AttemptResult, ...]
    before: tuple[Mark, ...]

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules, in order."""
        return tuple(sorted({one.mark.module for one in self.results}))

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections of the class, without the empty one."""
        return tuple(sorted({one.mark.section for one in self.results if one.mark.section}))

    def hidden(self, names: Pseudonyms) -> ClassResults:
        """Return the results with pseudonyms, in their order."""
        results = [
            replace(one, mark=names.mark(one.mark), to_look_at=names.text(one.to_look_at)) for one in self.results
        ]
        return replace(
            self,
            results=tuple(sorted(results, key=lambda one: (one.mark.module, one.mark.id))),
            attempts=tuple(replace(one, student=names.of(one.student)) for one in self.attempts),
            before=tuple(map(names.mark, self.before)),
        )


def read_class_results(folder: Path, modules: Collection[str] = (), before: Path | None = None) -> ClassResults:
    """Read what `attn grade --to FOLDER` wrote. `before` is the folder of an earlier grading to compare with.

    Without it, the class list that the last grading replaced is compared.
    """
    checks: dict[str, dict[str, CheckInfo]] = {}
    try:
        marks = [mark for mark in read_marks(folder) if not modules or mark.module in modules]
        earlier = _earlier(folder, before)
    except SavedMarksError as error:
        raise ClassResultsError(str(error)) from None
    if not marks:
        raise ClassResultsError(f"there are no grades in {folder} for {', '.join(modules) or 'any module'}")
    results = [_result(folder, mark, checks.setdefault(mark.module, {})) for mark in marks]
    kept = tuple(mark for mark in earlier if not modules or mark.module in modules)
    return ClassResults(tuple(results), checks, tuple(_attempts(folder, modules)), kept)


def _earlier(folder: Path, before: Path | None) -> list[Mark]:
    if before is not None:
        return read_marks(before)
    try:
        return read_marks(folder / "earlier")
    except SavedMarksError:  # this is the first grading
        return []


def _result(folder: Path, mark: Mark, checks: dict[str, CheckInfo]) -> StudentResult:
    if mark.status in NO_REPORT:
        return StudentResult(mark)
    report = _read(folder / mark.module / f"{file_name(mark.submission)}.json")
    for check in report.asked:
        checks.setdefault(check.name, CheckInfo(check.name, check.suite, check.target, check.property, check.points))
    for cost in report.costs:
        checks.setdefault(cost.name, CheckInfo(cost.name, "cost", cost.target, f"at most {cost.law}", cost.points))
    summary = summary_of(report)
    failed = frozenset((*summary.failed, *summary.too_expensive)) if report.status == "graded" else frozenset()
    return StudentResult(mark, failed, summary.misconceptions, summary.to_look_at, summary.undecided_points)


def _attempts(folder: Path, modules: Collection[str]) -> list[AttemptResult]:
    """Return every attempt that has its own report, in the order in which they were handed in."""
    entries, _ = read_journal(folder / JOURNAL)
    found = []
    for key, entry in entries.items():
        path = report_path(folder, key)
        if not key.attempt or (modules and key.module not in modules) or not path.is_file():
            continue
        report = _read(path)
        handed_in = entry.mark.handed_in if entry.mark else ""
        names = summary_of(report).misconceptions
        found.append(AttemptResult(sys.intern(key.student), report.module, handed_in, report.score, names))
    return sorted(found, key=lambda one: (one.module, one.student, one.handed_in))


def _read(path: Path) -> Report:
    fix = "Run the same `attn grade` again with --resume"
    try:
        return report_from(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise ClassResultsError(f"{path} is in the class list, but is missing. {fix}") from None
    except (OSError, ValueError):
        raise ClassResultsError(f"{path} is not a complete report. {fix}") from None

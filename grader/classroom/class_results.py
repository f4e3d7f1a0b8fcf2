"""The results of a class for statistics: what each student failed and believes, without the texts of the reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.classroom import RESUME, ClassError
from grader.classroom.copies import CopyGroup, read_copies
from grader.classroom.journal import ReportKey
from grader.classroom.marks import NO_REPORT, Mark
from grader.classroom.pseudonyms import Pseudonyms
from grader.classroom.results import GradeChange
from grader.classroom.store.store import CHANGES, ResultsStore, read_earlier_marks, read_marks
from grader.core.json_record import from_json
from grader.core.report import Report, report_from
from grader.core.summary import Summary, summary_of

NAMED = 3  # reasons that are shown; the others are counted


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
    changed: str = ""  # why the last grading changed the report

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
    functions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by module and misconception
    copies: tuple[CopyGroup, ...] = ()  # files that are alike

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
            replace(
                one,
                mark=names.mark(one.mark),
                to_look_at=names.text(one.to_look_at),
                changed=names.text(one.changed),
            )
            for one in self.results
        ]
        return replace(
            self,
            results=tuple(sorted(results, key=lambda one: (one.mark.module, one.mark.id))),
            attempts=tuple(replace(one, student=names.of(one.student)) for one in self.attempts),
            before=tuple(map(names.mark, self.before)),
            copies=tuple(sorted((one.renamed(names.of) for one in self.copies), key=lambda one: one.submissions)),
        )


def read_class_results(
    store: ResultsStore, modules: Collection[str] = (), before: ResultsStore | None = None
) -> ClassResults:
    """Read what `attn grade --to` wrote. `before` has the results of an earlier grading to compare with.

    Without it, the class list that the last grading replaced is compared.
    """
    marks = [mark for mark in read_marks(store) if not modules or mark.module in modules]
    earlier = read_earlier_marks(store) if before is None else read_marks(before)
    if not marks:
        raise ClassError(f"there are no grades in {store} for {', '.join(modules) or 'any module'}")
    reader = _Reader(store, _changes(store) if before is None else {})
    results = tuple(map(reader.result, marks))
    kept = tuple(mark for mark in earlier if not modules or mark.module in modules)
    copies = tuple(one for one in read_copies(store) if not modules or one.module in modules)
    return ClassResults(results, reader.checks, tuple(_attempts(store, modules)), kept, reader.functions, copies)


def _changes(store: ResultsStore) -> dict[tuple[str, str], str]:
    """Return why the last grading changed reports, by module and submission."""
    try:
        data = json.loads(store.document(CHANGES))
        found = [from_json(GradeChange, one) for one in data] if type(data) is list else []
    except (OSError, ValueError):  # a list for people, which nothing else depends on
        return {}
    return {(one.module, one.submission): _why_changed(one) for one in found}


def _why_changed(change: GradeChange) -> str:
    parts = [f"{one.name}: {one.before} → {one.after}" for one in change.parts]
    return "; ".join([*change.why, *_first(parts)])


def _first(texts: Sequence[str]) -> list[str]:
    more = len(texts) - NAMED
    return [*texts[:NAMED], f"and {more} more"] if more > 0 else list(texts)


class _Reader:
    """Reads the reports of a class, and collects the checks and the functions with misconceptions that they name."""

    def __init__(self, store: ResultsStore, changes: Mapping[tuple[str, str], str]) -> None:
        self.store = store
        self.changes = changes
        self.checks: dict[str, dict[str, CheckInfo]] = {}
        self.functions: dict[str, dict[str, str]] = {}

    def result(self, mark: Mark) -> StudentResult:
        """Return what the report of a mark says."""
        checks = self.checks.setdefault(mark.module, {})
        functions = self.functions.setdefault(mark.module, {})
        if mark.status in NO_REPORT:
            return StudentResult(mark)
        key = ReportKey(mark.module, mark.submission)
        try:
            report = _read(self.store, key)
        except FileNotFoundError:
            problem = f"{self.store.where(key)} is in the class list, but is missing"
            raise ClassError(f"{problem}. {RESUME}") from None
        for check in report.asked:
            info = CheckInfo(check.name, check.suite, check.target, check.property, check.points)
            checks.setdefault(check.name, info)
        for cost in report.costs:
            info = CheckInfo(cost.name, "cost", cost.target, f"at most {cost.law}", cost.points)
            checks.setdefault(cost.name, info)
        for one in report.diagnoses:
            if one.misconception:
                functions.setdefault(one.misconception, one.target)
        summary = summary_of(report)
        failed = frozenset((*summary.failed, *summary.too_expensive)) if report.status == "graded" else frozenset()
        changed = self.changes.get((mark.module, mark.submission), "")
        to_look_at = _to_look_at(report, summary)
        return StudentResult(mark, failed, summary.misconceptions, to_look_at, summary.undecided_points, changed)


def _to_look_at(report: Report, summary: Summary) -> str:
    """Return why the instructor should look at a report, with what is not decided yet."""
    open_items = [item for item in report.reviews if item.is_open]
    places = [
        ", line ".join([item.target or item.file, *([str(item.line)] if item.line else [])]) for item in open_items
    ]
    reasons = [f"{place}: {item.reason}" for place, item in zip(places, open_items, strict=True)]
    return "; ".join([*([summary.to_look_at] if summary.to_look_at else []), *_first(list(dict.fromkeys(reasons)))])


def _attempts(store: ResultsStore, modules: Collection[str]) -> list[AttemptResult]:
    """Return every attempt that has its own report, in the order in which they were handed in."""
    found = []
    for key, entry in store.journal().items():
        if not key.attempt or (modules and key.module not in modules):
            continue
        try:
            report = _read(store, key)
        except FileNotFoundError:
            continue
        handed_in = entry.mark.handed_in if entry.mark else ""
        names = summary_of(report).misconceptions
        found.append(AttemptResult(sys.intern(key.student), report.module, handed_in, report.score, names))
    return sorted(found, key=lambda one: (one.module, one.student, one.handed_in))


def _read(store: ResultsStore, key: ReportKey) -> Report:
    """Return a report; FileNotFoundError if there is none."""
    try:
        return report_from(json.loads(store.read(key)))
    except FileNotFoundError:
        raise
    except (OSError, ValueError):
        raise ClassError(f"{store.where(key)} is not a complete report. {RESUME}") from None

"""The results of a class: reports and marks that survive a crash and are never mixed up."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

from grader.classroom.copies import CopyGroup, read_copies
from grader.classroom.decisions import decided
from grader.classroom.journal import JournalEntry, ReplacedReport, ReportKey
from grader.classroom.marks import Mark, marks_lines
from grader.classroom.provenance import Provenance
from grader.classroom.store import ResultsError
from grader.classroom.store.store import CHANGES, COPIES, GRADES, GRADES_CSV, MISCONCEPTIONS, ResultsStore, StoreWriter
from grader.core.json_record import json_list_parts, json_text
from grader.core.report import Report, Undecided, report_from, report_text
from grader.course.golden import sha256

BY_HAND = "the earlier report was edited or damaged after it was written"
UNKNOWN = "there is no record of how the earlier report was made"


@dataclass(frozen=True)
class ChangedItem:
    """A check or cost with a different outcome than before."""

    name: str
    before: str
    after: str
    points: float


@dataclass(frozen=True)
class GradeChange:
    """A report that differs from the earlier report of the same submission."""

    module: str
    submission: str
    before: float | None
    after: float | None
    why: tuple[str, ...]
    parts: tuple[ChangedItem, ...]

    @property
    def is_of_grade(self) -> bool:
        """Whether the score changed; if not, only outcomes or messages did."""
        return self.before != self.after


class Results:
    """The results of a class that are being written: which report replaces which, and what is kept of the old one.

    What needs no rule is asked of its `writer`.
    """

    def __init__(self, store: ResultsStore) -> None:
        self._store = store
        self.writer = store.open()
        self.remarked: list[tuple[Mark, Mark]] = []  # before and after: the final mark changed, the report did not

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.writer.close()

    def kept(self, key: ReportKey, provenance: Provenance) -> Report | None:
        """Return the existing report, if it has exactly this provenance and has a score."""
        entry, data = self.writer.find(key)
        if entry is None or entry.provenance != provenance:
            return None  # missing, or grading it again could give something else
        report = _intact(entry, data)
        return report if report is not None and report.score is not None else None

    def decided(self, key: ReportKey, report: Report, submission: str, undecided: Undecided) -> Report:
        """Return a report of some code with the decisions that hold for it."""
        if not report.reviews:
            return report
        decisions = self.writer.decisions(key)
        return decided(report, decisions.about_code(key.student, key.module, submission), undecided)

    def write(self, key: ReportKey, report: Report, provenance: Provenance) -> None:
        """Write a report to its place. The report it replaces is kept as the earlier one if it is different."""
        self.writer.atomically(lambda: self._write(key, report, provenance))

    def _write(self, key: ReportKey, report: Report, provenance: Provenance) -> None:
        text = report_text(report)
        self.writer.begin()
        entry, old = self.writer.find(key)
        replaced = entry.replaced if entry else None
        is_other = old is not None and _without_timing(old) != _without_timing(text.encode())
        # The first replaced in this round is the one from before the round.
        if old is not None and is_other and self.writer.earlier(key) is None:
            self.writer.keep_earlier(key, old)
            by_hand = entry is None or sha256(old) != entry.report
            replaced = ReplacedReport(entry.provenance if entry else None, by_hand)
        mark = entry.mark if entry and entry.mark and _is_same_work(entry, report, provenance) else None
        self.writer.put(JournalEntry(key, sha256(text.encode()), provenance, replaced, mark), text)

    def revise(self, key: ReportKey, report: Report, mark: Mark | None) -> None:
        """Replace a report and its mark after a decision. This is not grading again, so no earlier version is kept."""
        text = report_text(report)
        self.writer.put(dataclasses.replace(self._entry(key), report=sha256(text.encode()), mark=mark), text)

    def intact(self, key: ReportKey) -> Report | None:
        """Return a report that is complete and has not been changed since it was written."""
        return _intact(*self.writer.find(key))

    def mark(self, key: ReportKey, mark: Mark) -> None:
        """Save the mark of a report."""
        entry = self._entry(key)
        if entry.mark is not None and entry.mark.final != mark.final and not key.attempt:
            self.remarked.append((entry.mark, mark))
        if entry.mark != mark:
            self.writer.put(dataclasses.replace(entry, mark=mark))

    def count(self, key: ReportKey) -> None:
        """Make one of several attempts the report of its student."""
        chosen = self._entry(key)
        report = self.report(key)
        if report is None:
            raise ResultsError(f"the report of attempt {key.attempt!r} of {key.student} is missing or damaged")
        counting = ReportKey(key.module, key.student)
        counted = self.writer.entry(counting)
        before = counted.mark if counted else None
        self.write(counting, report, chosen.provenance)
        if chosen.mark is not None:
            self.mark(counting, chosen.mark)
            if before is not None and self._only_lateness(before, chosen.mark):
                self.remarked.append((before, chosen.mark))

    def _only_lateness(self, before: Mark, after: Mark) -> bool:
        """Whether a final mark changed, although the attempt that counted before still has the same score."""
        same = self.writer.entry(ReportKey(before.module, before.submission, before.attempt))
        same_score = same is not None and same.mark is not None and same.mark.score == before.score
        return before.final != after.final and same_score

    def report(self, key: ReportKey) -> Report | None:
        """Return one report, if it is there and complete."""
        return _parse(self.writer.find(key)[1] or b"")

    def finish(
        self,
        marks: Sequence[Mark],
        keys: Iterable[ReportKey],
        misconceptions: Sequence[dict[str, Any]],
        changes: Iterable[GradeChange],
        copies: Sequence[CopyGroup] = (),
    ) -> None:
        """Write the tables, the class list last; ResultsError if the journal or a report is missing by now."""
        missing = self.writer.missing(keys)
        if missing is not None:
            raise ResultsError(f"{missing} was removed while the class was graded. Run it again with --resume")
        self.writer.put_document(MISCONCEPTIONS, [json_text(misconceptions) + "\n"])
        self.writer.put_document(CHANGES, chain(json_list_parts(changes), "\n"))
        self.writer.put_document(COPIES, chain(json_list_parts(copies), "\n"))
        self.write_class_list(marks)

    def write_class_list(self, marks: Sequence[Mark]) -> None:
        """Write the class list with the overrides, as JSON and, last of all, as CSV."""
        overrides = self.writer.overrides()
        overrides.check(marks)
        self.writer.put_document(GRADES, chain(json_list_parts(map(overrides.applied_to, marks)), "\n"))
        self.writer.put_document(GRADES_CSV, marks_lines(map(overrides.applied_to, marks)))

    def _entry(self, key: ReportKey) -> JournalEntry:
        entry = self.writer.entry(key)
        if entry is None:
            raise ResultsError(f"{self._store.where(key)} was removed while it was in use. Run it again with --resume")
        return entry


def earlier_copies(results: Results) -> tuple[CopyGroup, ...]:
    """Return the files that were alike so far."""
    return read_copies(results._store)


def grade_changes(writer: StoreWriter, keys: Iterable[ReportKey]) -> Iterator[GradeChange]:
    """Yield the reports that this round of grading changed."""
    writer.begin()
    for key in keys:
        earlier = writer.earlier(key)
        entry, data = writer.find(key) if earlier is not None else (None, None)
        if entry is None or earlier is None:
            continue
        before, after = _parse(earlier), _parse(data or b"")
        if before is not None and after is not None:
            replaced = entry.replaced or ReplacedReport(None, by_hand=False)
            yield change_between(before, after, replaced.provenance, entry.provenance, by_hand=replaced.by_hand)


def _is_same_work(entry: JournalEntry, report: Report, provenance: Provenance) -> bool:
    """Whether the mark of an earlier report is still right if the run ends before it marks the new one."""
    same_score = entry.mark is not None and (entry.mark.score, entry.mark.status) == (report.score, report.status)
    return same_score and entry.provenance.submission == provenance.submission


def _without_timing(data: bytes) -> Any:
    """Return the content of a report without its timing, which differs from run to run."""
    try:
        return {name: value for name, value in json.loads(data).items() if name != "timing"}
    except (ValueError, AttributeError):
        return data


def _intact(entry: JournalEntry | None, data: bytes | None) -> Report | None:
    return _parse(data) if entry and data is not None and sha256(data) == entry.report else None


def _parse(data: bytes) -> Report | None:
    try:
        return report_from(json.loads(data))
    except ValueError:
        return None


def change_between(
    before: Report, after: Report, old: Provenance | None, new: Provenance, *, by_hand: bool = False
) -> GradeChange:
    """Compare two reports of the same submission; `old` and `new` say what each was made from."""
    why = [BY_HAND] if by_hand else [] if old else [UNKNOWN]
    why += old.changes_to(new) if old else []
    if before.sandbox != after.sandbox:
        why.append(f"the sandbox changed from {before.sandbox} to {after.sandbox}")
    if before.status != after.status:
        why.append(f"{before.status.replace('_', ' ')} before, {after.status.replace('_', ' ')} now")
    why += _review_changes(before, after)
    parts = tuple(_changed_items(_outcomes(before), _outcomes(after)))
    return GradeChange(after.module, after.submission, before.score, after.score, tuple(why), parts)


def _review_changes(before: Report, after: Report) -> Iterator[str]:
    """Yield what became different through decisions and --undecided, where the same thing is undecided in both."""
    decisions = {(item.target, item.what, item.reason): item.decision for item in before.reviews}
    for item in after.reviews:
        if decisions.get((item.target, item.what, item.reason), item.decision) != item.decision:
            yield "a decision was made, changed, or does not hold for this code"
            break
    earned = {cost.name: cost.earned for cost in before.costs if cost.verdict == "inconclusive"}
    if any(
        cost.verdict == "inconclusive" and earned.get(cost.name, cost.earned) != cost.earned for cost in after.costs
    ):
        yield "undecided points count differently (--undecided)"


def _changed_items(before: dict[str, tuple[str, float]], after: dict[str, tuple[str, float]]) -> Iterator[ChangedItem]:
    absent = ("not there", 0.0)
    for name in dict.fromkeys([*before, *after]):
        (old_outcome, old_points), (new_outcome, new_points) = before.get(name, absent), after.get(name, absent)
        if (old_outcome, old_points) != (new_outcome, new_points):
            yield ChangedItem(name, old_outcome, new_outcome, round(new_points - old_points, 6))


def _outcomes(report: Report) -> dict[str, tuple[str, float]]:
    """Return the outcome and the points of every check and cost, by name."""
    checks = {check.name: (check.outcome.replace("_", " "), check.earned or 0.0) for check in report.checks}
    costs = {cost.name: (f"cost {cost.verdict}", cost.earned) for cost in report.costs}
    return checks | costs

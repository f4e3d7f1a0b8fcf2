"""A batch: a class that is graded into a results store, continuing an earlier run if wanted."""

from __future__ import annotations

import errno
import json
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, groupby

from grader.classroom.copies import CopyGroup, find_copies
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.mark_changes import MarkChange, mark_reasons
from grader.classroom.marks import Mark, Marking, best_of
from grader.classroom.provenance import Provenance, ProvenanceReader
from grader.classroom.results import GradeChange, Results, change_between, earlier_copies, grade_changes
from grader.classroom.stats import MisconceptionCount, count_misconceptions
from grader.classroom.store import ResultsError
from grader.core.disk_table import DiskList, DiskTable, form_of
from grader.core.report import Report, Undecided, report_from, report_text
from grader.core.safe_text import one_line, plain_name
from grader.core.summary import Summary, summary_of
from grader.course.course import Course
from grader.grading.executor import Executor
from grader.grading.pool import Graded
from grader.grading.workers import TellSlowCheck
from grader.submission.on_disk import ref_form
from grader.submission.submission import SubmissionRef, submission_hash

# After one of these errors no report can be written, so grading stops.
_FATAL_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


@dataclass(frozen=True)
class ClassCounts:
    """How many submissions there are, and how many of a kind."""

    submissions: int = 0
    full: int = 0  # with full marks
    not_graded: int = 0
    provisional: int = 0
    sandboxes: tuple[str, ...] = ()  # the tiers they were graded in


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch: one summary and mark for each student and module, and what changed."""

    summaries: Sequence[Summary]
    counts: ClassCounts
    marks: Sequence[Mark]
    shared: tuple[MisconceptionCount, ...]
    changes: Sequence[GradeChange]
    remarked: tuple[tuple[Mark, Mark], ...] = ()  # before and after, where only the lateness changed


@dataclass(frozen=True)
class _Noted:
    """What is kept of one report until the class is settled."""

    summary: Summary
    mark: Mark


@dataclass(frozen=True)
class _Held:
    """A report that is not written yet, because it changes the mark of work that has not changed."""

    key: ReportKey
    report: str
    provenance: Provenance

    def as_report(self) -> Report:
        return report_from(json.loads(self.report))


@dataclass(frozen=True)
class BatchRules:
    """The rules of a batch beside its deadlines, and what is known of modules that earlier runs graded."""

    undecided: Mapping[str, Undecided] = field(default_factory=dict)  # by module; "count" if it is not there
    # Why the work of people could not be graded, by module and id.
    skipped: Mapping[tuple[str, str], str] = field(default_factory=dict)
    others: Mapping[str, Marking] = field(default_factory=dict)  # of modules that earlier runs graded
    policies: frozenset[str] = frozenset()  # modules of which other attempts may count than before


@dataclass
class Batch:
    """The submissions of a class, and the reports and marks they get. What grows with the class is on disk."""

    course: Course
    work: Sequence[SubmissionRef]
    results: Results
    marking: Marking = field(default_factory=Marking)
    gpu_name: str | None = None  # of the executor
    rules: BatchRules = field(default_factory=BatchRules)
    unwritten: dict[ReportKey, tuple[Report, str]] = field(default_factory=dict)  # with the reason
    _held: DiskTable[_Held] = field(default_factory=lambda: DiskTable(form_of(_Held)))
    _noted: DiskTable[_Noted] = field(default_factory=lambda: DiskTable(form_of(_Noted)))

    def __post_init__(self) -> None:
        modules = {handed_in.module for handed_in in self.work}
        self._provenance = ProvenanceReader(self.course, modules, gpu_name=self.gpu_name)

    def keep(self) -> int:
        """Keep the existing reports that grading again would not change; return how many there are."""
        for handed_in in self.work:
            key = _key(handed_in)
            provenance = self._provenance.of(handed_in.read())
            report = self.results.kept(key, provenance)
            if report is not None:
                now = self._decided(key, report, provenance.submission)
                if now != report:  # a run was killed after a decision, or --undecided is another
                    self.results.write(key, now, provenance)
                self._note(key, handed_in, now)
        return len(self._noted)

    def grade(self, executor: Executor, tell: TellSlowCheck = lambda *_: None) -> Generator[Graded]:
        """Grade the submissions that have no report yet; write each report and yield it."""
        todo = self.work
        if self._noted:
            todo = DiskList(ref_form(), (one for one in self.work if _key(one).texts not in self._noted))
        if not todo:
            return
        with closing(executor.grade(self.course, todo, tell)) as all_graded:
            for graded in all_graded:
                self._write(graded)
                yield graded

    def _write(self, graded: Graded) -> None:
        key = _key(graded.handed_in)
        provenance = self._provenance.of_hash(key.module, graded.submission)
        report = self._decided(key, graded.report, provenance.submission)
        self._note(key, graded.handed_in, report)
        if self._is_known(key, report, provenance):
            self._held[key.texts] = _Held(key, report_text(report), provenance)
            return
        try:
            self.results.write(key, report, provenance)
        except OSError as error:
            if error.errno in _FATAL_ERRORS:
                raise
            self.unwritten[key] = report, str(error)

    def _decided(self, key: ReportKey, report: Report, submission: str) -> Report:
        return self.results.decided(key, report, submission, self.rules.undecided.get(key.module, "count"))

    def _is_known(self, key: ReportKey, report: Report, provenance: Provenance) -> bool:
        """Whether this changes the mark of work that has not changed. Then it is written only if that is wanted."""
        entry = self.results.writer.entry(key)
        if entry is None or entry.mark is None or entry.mark.score in (None, report.score):
            return False
        return entry.provenance.submission == provenance.submission and self.results.intact(key) is not None

    def release(self, agree: Callable[[Sequence[MarkChange]], bool]) -> bool:
        """Write the reports that were held back if that is wanted, or leave those that are there as they are."""
        write = agree(self._held_changes())
        for one in self._held if write else ():
            self.results.write(one.key, one.as_report(), one.provenance)
        for handed_in in () if write else self.work:
            key = _key(handed_in)
            report = self.results.intact(key) if key.texts in self._held else None
            if report is not None:
                self._note(key, handed_in, report)
        return write

    def _held_changes(self) -> list[MarkChange]:
        """Return the marks that other checks or another AttnLab would change, although the work is the same."""
        changes = []
        for one in self._held:
            entry, old = self.results.writer.entry(one.key), self.results.intact(one.key)
            noted = self._noted.get(one.key.texts)
            if entry is not None and entry.mark is not None and old is not None and noted is not None:
                why = change_between(old, one.as_report(), entry.provenance, one.provenance).why
                changes.append(MarkChange(entry.mark, noted.mark, why))
        return changes

    def settle(self) -> BatchResult:
        """Decide which attempts count, and write the class list and the other tables."""
        copies = self._copies()
        return self.results.writer.atomically(lambda: self._settle(copies), alone=True)

    def _copies(self) -> Sequence[CopyGroup]:
        """Return the files that are alike. What goes wrong here costs this list, never a mark."""
        before = list(earlier_copies(self.results))
        try:
            return find_copies(self.course, self.work, before)
        except Exception as error:  # noqa: BLE001 - it reads what students wrote
            sys.stderr.write(one_line(f"attn: files that are alike could not be listed: {error!r}", 500) + "\n")
            return before

    def _settle(self, copies: Sequence[CopyGroup]) -> BatchResult:
        self.results.remarked.clear()
        summaries = DiskList(form_of(Summary), self._counting())
        changes = DiskList(form_of(GradeChange), grade_changes(self.results.writer, map(_key_of, summaries)))
        whole_class = chain(summaries, self._from_other_runs())
        marks = self._class_list()
        misconceptions = [one.as_json() for one in count_misconceptions(self.course, whole_class)]
        written = (key for key in map(_key_of, summaries) if key not in self.unwritten)
        self.results.finish(marks, written, misconceptions, changes, copies)
        shared = count_misconceptions(self.course, summaries)
        remarked = tuple(self.results.remarked)
        return BatchResult(summaries, count_class(summaries), marks, tuple(shared), changes, remarked)

    def _counting(self) -> Iterator[Summary]:
        """Save the marks, and yield the summary of the attempt that counts, for each student and module."""
        for key, group in groupby(self._noted, key=lambda one: _key_of(one.summary)):
            attempts = {one.mark.attempt: one for one in group}
            marks = {attempt: one.mark for attempt, one in attempts.items()}
            for attempt, mark in marks.items():
                own = replace(key, attempt=attempt)
                if own not in self.unwritten:
                    self.results.mark(own, mark)
            chosen = best_of(marks)
            if chosen:
                self.results.count(replace(key, attempt=chosen))
            yield attempts[chosen].summary

    def reports(self, settled: BatchResult) -> Iterator[Report]:
        """Yield the report of every student and module, one at a time."""
        for summary in settled.summaries:
            key = _key_of(summary)
            report = self.unwritten[key][0] if key in self.unwritten else self.results.report(key)
            if report is None:
                raise ResultsError(f"the report of {key.student} was removed or changed while the class was graded")
            yield report

    def _from_other_runs(self) -> Iterator[Summary]:
        """Yield the summaries of reports that other runs wrote to this folder."""
        for key in (entry.key for entry in self.results.writer.counted()):
            is_ours = (key.module, key.student) in self._noted
            if not is_ours and (report := self.results.report(key)) is not None:
                yield summary_of(report)

    def _class_list(self) -> Sequence[Mark]:
        """Return the marks of all students in the folder, and of those on the roster who submitted nothing."""
        found = DiskTable(form_of(Mark))
        possible: dict[str, float] = {}
        unmarked: set[tuple[str, str]] = set()  # by a run that has not finished: not missing
        for entry in self.results.writer.counted():
            marking = self._marking_of(entry.key.module)
            if entry.mark:
                mark = marking.named(entry.mark)
                found[mark.module, mark.id, mark.submission] = mark
                possible[mark.module] = mark.max_score
            elif person := marking.person(entry.key.student):
                unmarked.add((entry.key.module, person.id))
        for module, most in possible.items():
            marking = self._marking_of(module)
            submitted = {mark.id for mark in found.starting_with((module,))} if marking.roster else set()
            skipped = {**dict.fromkeys(unmarked, ""), **self.rules.skipped}
            for mark in marking.missing(module, most, submitted, skipped):
                found[mark.module, mark.id, mark.submission] = mark
        overrides = self.results.writer.overrides()
        overrides.check(found)
        return DiskList(form_of(Mark), map(overrides.applied_to, found))

    def _marking_of(self, module: str) -> Marking:
        """Return who is in the class: the roster of this run, or that of the run which graded the module."""
        other = self.rules.others.get(module)
        if other is None or other.roster is None:
            return self.marking
        return other if self.marking.roster is None else replace(self.marking, section=other.section)

    def _note(self, key: ReportKey, handed_in: SubmissionRef, report: Report) -> None:
        self._noted[key.texts] = _Noted(summary_of(report), self.marking.mark(handed_in, report))


def changed_by_rules(batch: Batch) -> Iterator[MarkChange]:
    """Yield the marks that this run would change although it finds only work that was graded before."""
    for (module, student), group in groupby(batch.work, key=lambda one: _key(one).texts[:2]):
        entries = {entry.key.attempt: entry for entry in batch.results.writer.entries(module, student)}
        before = entries[""].mark if "" in entries else None
        if before is None:
            continue
        attempts = list(group)
        marks = {one.attempt: _known_mark(batch, one, entries.values()) for one in attempts}
        known = {attempt: mark for attempt, mark in marks.items() if mark is not None}
        if len(known) == len(attempts):
            after = known[best_of(known)]
            if after.final != before.final:
                yield MarkChange(before, after, tuple(mark_reasons(before, after)))
        elif module in batch.rules.policies and len(attempts) > 1:
            yield MarkChange(before, None, (f"all {len(attempts)} attempts are graded, and the best counts",))


def _known_mark(batch: Batch, handed_in: SubmissionRef, entries: Iterable[JournalEntry]) -> Mark | None:
    """Return the mark of a submission by the rules of this run; None if its work was not graded before."""
    submission = submission_hash(handed_in.read())
    for entry in entries:
        report = batch.results.intact(entry.key) if entry.provenance.submission == submission else None
        if report is not None:
            return batch.marking.mark(handed_in, batch._decided(entry.key, report, submission))
    return None


def count_class(summaries: Iterable[Summary]) -> ClassCounts:
    """Count the submissions of a class."""
    counts: Counter[str] = Counter()
    sandboxes: set[str] = set()
    for one in summaries:
        sandboxes.add(one.sandbox)
        counts["submissions"] += 1
        counts["full"] += one.is_full
        counts["not_graded"] += one.score is None
        counts["provisional"] += bool(one.undecided_points)
    return ClassCounts(**counts, sandboxes=tuple(sorted(sandboxes)))


def _key(handed_in: SubmissionRef) -> ReportKey:
    return ReportKey(handed_in.module, plain_name(handed_in.student), handed_in.attempt)


def _key_of(summary: Summary) -> ReportKey:
    return ReportKey(summary.module, summary.submission)

"""A batch: a class graded into a folder of results, from where an earlier run was left if that is wanted."""

from __future__ import annotations

import errno
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from grader.classroom.changes import GradeChange
from grader.classroom.journal import ReportKey
from grader.classroom.marks import Mark, Marking, best_of
from grader.classroom.misconception_counts import MisconceptionCount, count_misconceptions
from grader.classroom.provenance import ProvenanceReader
from grader.classroom.results import Results, ResultsError
from grader.core.report import Report
from grader.core.safe_text import plain_name
from grader.core.summary import Summary, summary_of
from grader.course.course import Course
from grader.grading.pool import Graded, grade_in_pool
from grader.submission.submission import SubmissionRef

# With these nothing more can be written at all: to go on grading would be in vain.
_HOPELESS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


@dataclass(frozen=True)
class BatchResult:
    """What a batch came to: one summary and mark for each student and module, and what is new in them."""

    summaries: tuple[Summary, ...]
    marks: tuple[Mark, ...]
    shared: tuple[MisconceptionCount, ...]
    changes: tuple[GradeChange, ...]
    remarked: tuple[tuple[Mark, Mark], ...] = ()  # before and after, where only lateness made the difference


@dataclass
class Batch:
    """The submissions of a class on their way to reports and marks."""

    course: Course
    work: tuple[SubmissionRef, ...]
    results: Results
    marking: Marking = field(default_factory=Marking)
    gpu: bool = False
    unwritten: dict[ReportKey, tuple[Report, str]] = field(default_factory=dict)  # with the reason
    _summaries: dict[ReportKey, Summary] = field(default_factory=dict)
    _marks: dict[ReportKey, Mark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bases = ProvenanceReader(self.course, {handed_in.module for handed_in in self.work}, gpu=self.gpu)

    def keep(self) -> int:
        """Take over the reports that are there and would come out the same; return how many."""
        for handed_in in self.work:
            key = _key(handed_in)
            report = self.results.kept(key, self._bases.of(handed_in.read()))
            if report is not None:
                self._note(key, handed_in, report)
        return len(self._summaries)

    def grade(self, jobs: int, *, allow_unjailed: bool = False) -> Generator[Graded]:
        """Grade what is not there yet, write each report and yield it."""
        todo = [handed_in for handed_in in self.work if _key(handed_in) not in self._summaries]
        if not todo:
            return
        jobs = 1 if self.gpu else jobs  # two at a GPU would share its memory, and spoil each other's times
        graded_now = grade_in_pool(self.course, todo, jobs, allow_unjailed=allow_unjailed, gpu=self.gpu)
        with closing(graded_now) as all_graded:
            for graded in all_graded:
                self._write(graded)
                yield graded

    def _write(self, graded: Graded) -> None:
        key = _key(graded.handed_in)
        try:
            self.results.write(key, graded.report, self._bases.of(graded.submission))
        except OSError as error:
            if error.errno in _HOPELESS:
                raise
            self.unwritten[key] = graded.report, str(error)
        self._note(key, graded.handed_in, graded.report)

    def settle(self) -> BatchResult:
        """Decide which attempts count, and write down what all of it comes to."""
        groups: dict[ReportKey, dict[str, Mark]] = {}
        for key, mark in self._marks.items():
            groups.setdefault(ReportKey(key.module, key.student), {})[key.attempt] = mark
            if key not in self.unwritten:
                self.results.mark(key, mark)
        for counting, marks in groups.items():
            chosen = ReportKey(counting.module, counting.student, best_of(marks))
            if chosen != counting:
                self._summaries[counting] = self._summaries[chosen]
                self.results.count(chosen)
        mine = sorted(groups)
        summaries = tuple(self._summaries[key] for key in mine)
        changes = self.results.changes(mine)
        everybody = (*summaries, *self._others(groups))
        marks_now = self._class_list()
        tables = {
            "misconceptions": [one.as_json() for one in count_misconceptions(self.course, everybody)],
            "changes": [change.as_json() for change in changes],
        }
        written = [key for key in mine if key not in self.unwritten]
        self.results.finish(marks_now, written, **tables)
        shared = count_misconceptions(self.course, summaries)
        return BatchResult(summaries, tuple(marks_now), tuple(shared), tuple(changes), tuple(self.results.remarked))

    def reports(self, settled: BatchResult) -> Iterator[Report]:
        """Yield the report of every student and module, one at a time."""
        for summary in settled.summaries:
            key = ReportKey(summary.module, summary.submission)
            report = self.unwritten[key][0] if key in self.unwritten else self.results.report(key)
            if report is None:
                raise ResultsError(f"the report of {key.student} has gone, or was changed, since it was written")
            yield report

    def _others(self, mine: Collection[ReportKey]) -> Iterator[Summary]:
        """Yield what other runs graded into this folder."""
        for key in self.results.counted():
            if key not in mine and (report := self.results.report(key)) is not None:
                yield summary_of(report)

    def _class_list(self) -> list[Mark]:
        """Return what counts for everybody in the folder, and who on the roster has nothing there."""
        marks = [self.marking.named(mark) for mark in self.results.marks()]
        possible = {mark.module: mark.max_score for mark in marks}
        absent = [one for name, most in possible.items() for one in self.marking.missing(name, most, marks)]
        return sorted(marks + absent, key=lambda mark: (mark.module, mark.id, mark.submission))

    def _note(self, key: ReportKey, handed_in: SubmissionRef, report: Report) -> None:
        self._summaries[key] = summary_of(report)
        self._marks[key] = self.marking.mark(handed_in, report)


def _key(handed_in: SubmissionRef) -> ReportKey:
    return ReportKey(handed_in.module, plain_name(handed_in.student), handed_in.attempt)

"""The review of a class: what its grading left undecided, and decisions about that."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from grader.classroom import RESUME, ClassError
from grader.classroom.decisions import DecisionRecord, Decisions, decided
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.lateness import LateError, Penalty, read_penalty
from grader.classroom.marks import Mark, rescored
from grader.classroom.module_rules import read_saved_rules
from grader.classroom.pseudonyms import Pseudonyms
from grader.classroom.results import Results
from grader.classroom.store.store import RULES, ResultsStore, read_marks
from grader.core.report import Report, ReviewItem, Undecided, Verdict, report_from

UndecidedRules = Callable[[str], Undecided]  # by module


@dataclass(frozen=True)
class Reviewed:
    """A report with something to review.

    `report` has the decisions that hold, and `written` says whether its file has them too. `earlier` has the decisions
    about the same items in other code of the student, which do not hold any more.
    """

    student: str
    module: str
    id: str
    name: str
    submission: str
    report: Report
    written: bool
    earlier: tuple[tuple[ReviewItem, DecisionRecord], ...]

    def items(self, target: str | None = None) -> tuple[ReviewItem, ...]:
        """Return the items, of all targets or of one."""
        return tuple(item for item in self.report.reviews if target in (None, item.target))

    def is_open(self, target: str | None = None) -> bool:
        """Whether something is still undecided, in all targets or in one."""
        if not self.report.reviews:  # a check failed that was undecided, too: there is nothing to accept
            return target is None
        return any(item.is_open for item in self.items(target))

    def hidden(self, names: Pseudonyms) -> Reviewed:
        """Return it with a pseudonym, to be shown to a person who must not know the student."""
        who = names.of(self.student)
        earlier = ((item, replace(made, student=who, comment=names.text(made.comment))) for item, made in self.earlier)
        report = names.report(self.report)
        items = dict(zip(self.report.reviews, report.reviews, strict=True))
        before = tuple((items[item], made) for item, made in earlier)
        return replace(self, student=who, id=who, name="", report=report, earlier=before)

    def is_of(self, student: str) -> bool:
        """Whether it belongs to a student, named as in the submission or by an id."""
        return student in (self.student, self.id)


@dataclass(frozen=True)
class ScoreChange:
    """What a decision did to the score of a student."""

    student: str
    module: str
    before: float | None
    after: float | None
    max_score: float
    has_attempts: bool  # several attempts were graded: which one counts may change


def undecided_rules(store: ResultsStore) -> UndecidedRules:
    """Return whether undecided points count, as the last grading of each module said."""
    saved = read_saved_rules(store)
    return lambda module: saved.of(module).rules.undecided or "count"


def undecided_rule(store: ResultsStore, modules: Collection[str]) -> Undecided | None:
    """Return whether undecided points count in some modules; None if that is not the same for all of them."""
    of = undecided_rules(store)
    found = {of(module) for module in modules} or {"count"}
    return found.pop() if len(found) == 1 else None


def read_reviews(store: ResultsStore, modules: Collection[str] = ()) -> list[Reviewed]:
    """Return every report with something that is or was undecided, in all or some modules."""
    if not store.is_begun:
        raise ClassError(f"there are no reports in {store}. To write them, run: attn grade class/ --to {store.name}")
    decisions = store.decisions()
    undecided = undecided_rules(store)
    entries = store.journal()
    found = []
    for key in sorted(entries):
        if key.attempt or (modules and key.module not in modules):
            continue
        report = _read(store, key)
        if report is not None and (report.reviews or report.needs_review):
            found.append(_reviewed(entries[key], report, decisions, undecided(key.module)))
    return found


def _read(store: ResultsStore, key: ReportKey) -> Report | None:
    """Return a report; None if it was removed."""
    try:
        return report_from(json.loads(store.read(key)))
    except FileNotFoundError:
        return None
    except ValueError:
        raise ClassError(f"{store.where(key)} is not a complete report. {RESUME}") from None


def _reviewed(entry: JournalEntry, report: Report, decisions: Decisions, undecided: Undecided) -> Reviewed:
    key, submission = entry.key, entry.provenance.submission
    now = decided(report, decisions.about_code(key.student, key.module, submission), undecided)
    earlier = tuple(
        (item, record)
        for item in now.reviews
        if item.is_open and (record := decisions.find_earlier(key.student, key.module, submission, item))
    )
    mark = entry.mark
    who = (mark.id, mark.name) if mark else (key.student, "")
    return Reviewed(key.student, key.module, *who, submission, now, now == report, earlier)


def decide(
    store: ResultsStore,
    chosen: Sequence[tuple[Reviewed, Sequence[ReviewItem]]],
    verdict: Verdict | None,
    comment: str,
    when: str,
) -> list[ScoreChange]:
    """Decide items of some reports, or with None reopen them. Decisions are saved first, then reports, then grades.

    After a crash in between, the same decision again or `attn grade --resume` completes it.
    """
    about = dict.fromkeys(
        (one.student, one.module, item.target, item.what, item.reason, one.submission)
        for one, items in chosen
        for item in items
    )
    for module in {one.module for one, _ in chosen}:
        _rules_of(store, module)  # a damaged file of rules is noticed before anything is saved

    with Results(store) as results:

        def work() -> list[ScoreChange]:
            marks = read_marks(store)
            reports = [_reports(store, results, one) for one, _ in chosen]
            decisions = results.writer.decisions()
            if verdict is None:
                decisions = decisions.without(made for made in decisions.records if made.about in about)
            else:
                made = (DecisionRecord(*what, verdict, comment, when) for what in about)
                decisions = decisions.with_records(made)
            results.writer.save_decisions(decisions)
            return _revise(store, results, marks, reports, decisions)

        return results.writer.atomically(work, alone=True)


def _reports(store: ResultsStore, results: Results, one: Reviewed) -> list[tuple[JournalEntry, Report]]:
    """Return the reports of the reviewed code: the one that counts first, then those of attempts."""
    entries = sorted(results.writer.entries(one.module, one.student), key=lambda entry: entry.key)
    found = []
    for entry in entries:
        if entry.provenance.submission == one.submission:
            report = results.intact(entry.key)
            if report is None:
                raise ClassError(f"{store.where(entry.key)} is missing or was changed. {RESUME}")
            found.append((entry, report))
    if not found or found[0][0].key.attempt:
        raise ClassError(f"{one.student} was graded again for {one.module} just now. Look at the review again")
    return found


def _revise(
    store: ResultsStore,
    results: Results,
    marks: Sequence[Mark],
    chosen: Sequence[Sequence[tuple[JournalEntry, Report]]],
    decisions: Decisions,
) -> list[ScoreChange]:
    """Write the decisions into the reports and into the class list. Return what changed for each student."""
    rules = {reports[0][0].key.module: _rules_of(store, reports[0][0].key.module) for reports in chosen}
    changes = []
    counted: dict[tuple[str, str], Report] = {}
    for reports in chosen:
        for entry, report in reports:
            key = entry.key
            undecided, penalty = rules[key.module]
            now = decided(
                report,
                decisions.about_code(key.student, key.module, entry.provenance.submission),
                undecided,
            )
            results.revise(key, now, rescored(entry.mark, now, penalty) if entry.mark else None)
            if not key.attempt:
                counted[key.module, key.student] = now
                several = len(reports) > 1
                changes.append(ScoreChange(key.student, key.module, report.score, now.score, now.max_score, several))
    by_mark = ((mark, counted.get((mark.module, mark.submission))) for mark in marks)
    rescored_marks = [rescored(mark, now, rules[mark.module][1]) if now else mark for mark, now in by_mark]
    results.write_class_list(rescored_marks)
    return changes


def _rules_of(store: ResultsStore, module: str) -> tuple[Undecided, Penalty | None]:
    """Return what the rules of a module say about undecided points and late work."""
    rules = read_saved_rules(store).of(module).rules
    try:
        penalty = read_penalty(rules.late_penalty) if rules.late_penalty else None
    except LateError as error:
        raise ClassError(f"{store.where(RULES)}: {error}. {RESUME} and --late-penalty") from None
    return rules.undecided or "count", penalty

"""The store: the one interface to the results of a class, whatever keeps them.

`Results` has the rules for writing, and `read_marks`, `read_stats` and others those for reading. A store only keeps
things, so that all commands do the same with every store. What each method promises is said here, once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from grader.classroom import ClassError
from grader.classroom.decisions import Decisions
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.marks import Mark
from grader.classroom.overrides import Overrides
from grader.core.json_record import from_json
from grader.core.report import Report, report_from

GRADES, GRADES_CSV, CHANGES, RULES = "grades.json", "grades.csv", "changes.json", "rules.json"
MISCONCEPTIONS, COPIES = "misconceptions.json", "copies.json"
LISTS = (GRADES_CSV, GRADES)  # a run writes them last: without them, the grading is unfinished
DERIVED = (*LISTS, MISCONCEPTIONS, CHANGES, COPIES)  # the tables of one round of grading
EARLIER = "earlier"  # what the last round of grading replaced

T = TypeVar("T")


@dataclass(frozen=True)
class StoredReport:
    """The report of a student as it is kept: its name, its place for messages, and its bytes or why there are none."""

    name: str
    where: str
    data: bytes | OSError

    def report(self) -> Report:
        """Return the report; OSError if it cannot be read, ValueError if it is not complete."""
        if isinstance(self.data, OSError):
            raise self.data
        return report_from(json.loads(self.data))


class ResultsStore(Protocol):
    """The results of one class, for reading. As text, it says where they are; that text is safe to show."""

    @property
    def name(self) -> str:
        """The name for `--to`."""

    @property
    def title(self) -> str:
        """Where the results are, inside a sentence."""

    @property
    def is_begun(self) -> bool:
        """Whether a grading into it has begun."""

    def journal(self) -> Mapping[ReportKey, JournalEntry]:
        """Return what is known of each report."""

    def read(self, key: ReportKey) -> bytes:
        """Return one report; FileNotFoundError if there is none."""

    def earlier(self, key: ReportKey) -> bytes | None:
        """Return the report from before the last round of grading, if that changed it."""

    def where(self, what: ReportKey | str) -> str:
        """Return the place of a report or of a document, for messages."""

    def stored(self, module: str) -> Iterator[StoredReport]:
        """Yield the reports of students for a module, by name; not those of single attempts."""

    def document(self, name: str) -> bytes:
        """Return a table or the rules; FileNotFoundError if there is none."""

    def decisions(self) -> Decisions:
        """Return the instructor's decisions."""

    def overrides(self) -> Overrides:
        """Return what the instructor gave by hand."""

    def open(self) -> StoreWriter:
        """Open it for writing; ClassError or StoreError if that is not possible."""


class StoreWriter(Protocol):
    """A store that is open for writing. What is written is there for other processes at once."""

    @property
    def damaged(self) -> int:
        """How many journal entries could not be read."""

    def close(self) -> None:
        """End the writing."""

    def atomically(self, work: Callable[[], T], *, alone: bool = False) -> T:
        """Run steps that belong together. With `alone`, no other grader writes in between.

        A database makes all of them or none, and runs them again if it lost its connection. A call inside another one
        belongs to that one.
        """

    def begin(self) -> None:
        """Begin a new round if the last one was finished: forget its changes and keep its tables as earlier ones.

        A list of half a class must not be mistaken for the class.
        """

    def entry(self, key: ReportKey) -> JournalEntry | None:
        """Return what is known of a report."""

    def find(self, key: ReportKey) -> tuple[JournalEntry | None, bytes | None]:
        """Return what is known of a report, and the report."""

    def entries(self, module: str, student: str) -> list[JournalEntry]:
        """Return what is known of a student's reports for a module: the one that counts, and those of attempts."""

    def put(self, entry: JournalEntry, text: str | None = None) -> None:
        """Save what is known of a report, and the report if it is new."""

    def counted(self) -> Iterator[JournalEntry]:
        """Yield the reports of students that are there, from all runs, in order; not those of single attempts."""

    def unmarked(self) -> list[str]:
        """Return the reports without a mark, because the run that wrote them has not finished."""

    def missing(self, keys: Iterable[ReportKey]) -> str | None:
        """Return the place of something that was removed since it was written, if anything was."""

    def earlier(self, key: ReportKey) -> bytes | None:
        """Return the report from before this round, if this round changed it."""

    def keep_earlier(self, key: ReportKey, data: bytes) -> None:
        """Keep the report from before this round."""

    def put_document(self, name: str, parts: Iterable[str]) -> None:
        """Save a table or the rules: the parts of its text."""

    def decisions(self, key: ReportKey | None = None) -> Decisions:
        """Return the decisions, at least those about the student and module of a report."""

    def save_decisions(self, decisions: Decisions) -> None:
        """Save all decisions."""

    def overrides(self) -> Overrides:
        """Return what the instructor gave by hand."""

    def save_overrides(self, overrides: Overrides) -> None:
        """Save everything given by hand."""


def has_reports(store: ResultsStore, module: str) -> bool:
    """Whether a store has reports of students for a module."""
    return any(True for _ in store.stored(module))


class SavedMarksError(ClassError):
    """A class list that cannot be used, and what to do about it."""


def read_marks(store: ResultsStore) -> list[Mark]:
    """Return the class list of a store; SavedMarksError if the grading is unfinished.

    A person may have changed the overrides since the list was written, so they are read again.
    """
    try:
        return store.overrides().apply(_list(store, GRADES))
    except FileNotFoundError:
        if store.is_begun:
            fix = f"To finish it, run: attn grade ... --to {store.name} --resume"
            raise SavedMarksError(f"{store} has no class list, because the grading did not finish. {fix}") from None
        fix = f"To make them, run: attn grade ... --to {store.name}"
        raise SavedMarksError(f"there are no grades in {store}. {fix}") from None


def read_earlier_marks(store: ResultsStore) -> list[Mark]:
    """Return the automatic marks of the class list that the last grading replaced; empty if it was the first."""
    try:
        return Overrides().apply(_list(store, f"{EARLIER}/{GRADES}"))
    except (FileNotFoundError, SavedMarksError):
        return []


def _list(store: ResultsStore, name: str) -> list[Mark]:
    try:
        return [from_json(Mark, one) for one in json.loads(store.document(name))]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, TypeError, RecursionError) as error:
        fix = f"To write it again, run: attn grade ... --to {store.name} --resume"
        raise SavedMarksError(f"{store.where(name)} cannot be read: {error}. {fix}") from None

"""Checks a store: every report is as it was written, and the class list agrees with the reports."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grader.classroom.journal import JournalEntry
from grader.classroom.overrides import OverridesError
from grader.classroom.saved_marks import SavedMarksError, read_marks
from grader.classroom.store.store import ResultsStore
from grader.core.report import report_from
from grader.course.golden import sha256

RESUME = "Run the same `attn grade` again with --resume"


@dataclass(frozen=True)
class StoreCheck:
    """What a class in a store has, and what is wrong with it."""

    name: str
    reports: int
    attempts: int
    finished: bool  # whether there is a class list
    problems: tuple[str, ...]


def check_store(store: ResultsStore) -> StoreCheck:
    """Read everything of a class once."""
    journal = store.journal()
    problems = [problem for entry in journal.values() if (problem := _problem(store, entry))]
    finished = True
    try:
        marks = read_marks(store)
        scores = {(mark.module, mark.submission): mark.score for mark in marks if mark.submission}
        counted = [entry for key, entry in journal.items() if not key.attempt]
        for entry in counted:
            mark, key = entry.mark, entry.key
            if mark is None:
                problems.append(f"{store.where(key)} is not in the class list. {RESUME}")
            elif scores.get((key.module, key.student), mark) != mark.score:
                problems.append(f"{store.where(key)} does not agree with the class list. {RESUME}")
    except (SavedMarksError, OverridesError) as error:
        finished = False
        problems.append(str(error))
    attempts = sum(bool(key.attempt) for key in journal)
    return StoreCheck(store.name, len(journal) - attempts, attempts, finished, tuple(problems))


def _problem(store: ResultsStore, entry: JournalEntry) -> str:
    """Return what is wrong with a report; empty if nothing is."""
    try:
        data = store.read(entry.key)
        report_from(json.loads(data))
    except FileNotFoundError:
        return f"{store.where(entry.key)} is missing. {RESUME}"
    except (OSError, ValueError) as error:
        return f"{store.where(entry.key)} is not a complete report ({error}). {RESUME}"
    return "" if sha256(data) == entry.report else f"{store.where(entry.key)} was changed after it was written"

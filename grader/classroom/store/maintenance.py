"""Maintenance of a store: checking it, and copying a class to another store."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grader.classroom import RESUME
from grader.classroom.journal import JournalEntry
from grader.classroom.overrides import OverridesError
from grader.classroom.store import ResultsError
from grader.classroom.store.store import DERIVED, EARLIER, RULES, ResultsStore, SavedMarksError, StoreWriter, read_marks
from grader.core.report import report_from
from grader.course.golden import sha256


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


@dataclass(frozen=True)
class Copied:
    """How many reports were copied, and which were not."""

    reports: int
    problems: tuple[str, ...]


def copy_results(source: ResultsStore, target: ResultsStore) -> Copied:
    """Copy everything into an empty place; ResultsError if there is nothing to copy, or something there already."""
    if not source.is_begun:
        raise ResultsError(f"there are no results in {source}")
    if target.is_begun:
        raise ResultsError(f"{target} has results already. Name another place")
    writer = target.open()
    try:
        return writer.atomically(lambda: _copy(source, writer), alone=True)
    finally:
        writer.close()


def _copy(source: ResultsStore, writer: StoreWriter) -> Copied:
    problems = []
    copied = 0
    for key, entry in source.journal().items():
        try:
            text = _json(source.read(key))
        except (OSError, ValueError) as error:
            problems.append(f"{source.where(key)} was not copied, because it is missing or damaged ({error})")
            continue
        writer.put(entry, text)
        copied += 1
        earlier = source.earlier(key)
        if earlier is not None:
            writer.keep_earlier(key, earlier)
    writer.save_decisions(source.decisions())
    writer.save_overrides(source.overrides())
    for name in (RULES, *(f"{EARLIER}/{name}" for name in DERIVED), *reversed(DERIVED)):  # the class list last
        try:
            writer.put_document(name, [source.document(name).decode()])
        except FileNotFoundError:
            continue
    return Copied(copied, tuple(problems))


def _json(data: bytes) -> str:
    """Return a report as text; ValueError if it is not complete."""
    json.loads(data)
    return data.decode()

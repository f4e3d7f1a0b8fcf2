"""Copies the results of a class from one store to another, byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grader.classroom.store import ResultsError
from grader.classroom.store.store import DERIVED, EARLIER, RULES, ResultsStore, StoreWriter


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

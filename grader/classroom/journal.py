"""The journal of a results folder: one line for each report or mark written.

A crash can cut off only the last line.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from grader.classroom.marks import Mark
from grader.classroom.provenance import Provenance
from grader.core.json_record import from_json, json_key, to_json


@dataclass(frozen=True, order=True)
class ReportKey:
    """The module, student and attempt of a report; `attempt` is empty unless several attempts were graded."""

    module: str
    student: str
    attempt: str = ""

    @property
    def texts(self) -> tuple[str, str, str]:
        """The key of a table, in the same order."""
        return self.module, self.student, self.attempt


@dataclass(frozen=True)
class ReplacedReport:
    """What is known of an earlier report that a new one replaced."""

    provenance: Provenance | None = field(metadata=json_key("basis"))
    by_hand: bool  # whether its file had been changed by hand


@dataclass(frozen=True)
class JournalEntry:
    """What is known of one report: the hash of its file, its provenance, the report it replaced, and its mark."""

    key: ReportKey
    report: str
    provenance: Provenance = field(metadata=json_key("basis"))
    replaced: ReplacedReport | None = field(metadata=json_key("was"))
    mark: Mark | None

    def line(self) -> str:
        """Return the entry as one line of the journal."""
        data = to_json(self)
        key = data.pop("key")
        return json.dumps(key | data) + "\n"

    def settled(self) -> JournalEntry:
        """Return the entry without the report it replaced."""
        return dataclasses.replace(self, replaced=None)


def read_journal(path: Path) -> Iterator[JournalEntry | None]:
    """Yield the entries, and None for a line that cannot be read. The last entry for a report counts.

    A missing journal is empty.
    """
    try:
        journal = path.open("rb")
    except FileNotFoundError:
        return
    with journal:
        for line in journal:
            try:
                # A line without its end: the process stopped while writing it.
                yield _entry(json.loads(line)) if line.endswith(b"\n") else None
            except ValueError:
                yield None


def append(journal: IO[bytes], entry: JournalEntry) -> None:
    """Add one line."""
    journal.write(entry.line().encode())
    journal.flush()


def _entry(data: Any) -> JournalEntry:
    if not isinstance(data, dict) or "attempt" not in data:
        raise ValueError("not a journal entry")
    return from_json(JournalEntry, data | {"key": data})

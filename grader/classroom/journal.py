"""The journal of a folder of results: one line for each thing done, so that a crash can only cut the last one off."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from grader.classroom.marks import Mark, mark_from
from grader.classroom.provenance import Provenance, provenance_from


@dataclass(frozen=True, order=True)
class ReportKey:
    """What a report is of; `attempt` is empty unless several of one student's were graded."""

    module: str
    student: str
    attempt: str = ""


@dataclass(frozen=True)
class JournalEntry:
    """What is known of one report: the hash of its file, what it rests on, what it replaced, what it counts for."""

    key: ReportKey
    report: str
    basis: Provenance
    was: dict[str, Any] | None = None
    mark: Mark | None = None

    def line(self) -> str:
        """Return it as one line of the journal."""
        data = dataclasses.asdict(self.key) | {"report": self.report, "basis": self.basis.as_json(), "was": self.was}
        return json.dumps(data | {"mark": self.mark.as_json() if self.mark else None}) + "\n"

    def settled(self) -> JournalEntry:
        """Return it without what it replaced."""
        return dataclasses.replace(self, was=None)

    def was_provenance(self) -> tuple[Provenance | None, bool]:
        """Return what the report before this one rested on, and whether that had been changed by hand."""
        was = self.was or {}
        return (provenance_from(was["basis"]) if was.get("basis") else None), bool(was.get("by_hand"))


def read_journal(path: Path) -> tuple[dict[ReportKey, JournalEntry], int]:
    """Return the last word on each report, and how many lines could not be read; no journal is an empty one."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}, 0
    entries: dict[ReportKey, JournalEntry] = {}
    damaged = int(bool(lines.pop()))  # a line without its end was being written when something ended the writer
    for line in lines:
        try:
            entry = _entry(json.loads(line))
        except (ValueError, KeyError, TypeError):
            damaged += 1
        else:
            entries[entry.key] = entry
    return entries, damaged


def append(journal: IO[bytes], entry: JournalEntry) -> None:
    """Add one line."""
    journal.write(entry.line().encode())
    journal.flush()


def _entry(data: dict[str, Any]) -> JournalEntry:
    key = ReportKey(*(str(data[name]) for name in ("module", "student", "attempt")))
    mark = mark_from(data["mark"]) if data["mark"] else None
    return JournalEntry(key, str(data["report"]), provenance_from(data["basis"]), data["was"], mark)

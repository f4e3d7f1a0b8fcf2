"""Rows of the tables in a database, from and to what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from grader.classroom.decisions import DecisionRecord, Decisions
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.overrides import Override, Overrides
from grader.core.json_record import from_json, to_json

# The columns of `report` without the report itself, as `entry_of` reads them.
ENTRY = "module, student, attempt, sha256, provenance, replaced, mark"

# What a file name may have and a text column may not: half of a pair of surrogates, and the character 0.
_UNSTORABLE = re.compile(r"[\\\x00\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def column(text: str) -> str:
    """Return a text for a column. Different texts stay different."""
    return _UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def from_column(text: str) -> str:
    """Return the text that a column holds."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def key_columns(key: ReportKey) -> tuple[str, str, str]:
    """Return the columns that find a report."""
    return column(key.module), column(key.student), column(key.attempt)


def key_of(row: Sequence[Any]) -> ReportKey:
    """Return the key in the first columns of a row."""
    return ReportKey(*map(from_column, row[:3]))


def entry_of(row: Sequence[Any]) -> JournalEntry:
    """Return the entry in the columns `ENTRY`."""
    names = ("report", "basis", "was", "mark")
    return from_json(JournalEntry, dict(zip(names, row[3:7], strict=True)) | {"key": to_json(key_of(row))})


def entry_columns(entry: JournalEntry) -> tuple[str, str, str | None, str | None]:
    """Return what the journal says of a report: hash, provenance, replaced report and mark."""
    data = to_json(entry)
    return entry.report, _json(data["basis"]), _json_or_null(data["was"]), _json_or_null(data["mark"])


def decisions_of(rows: Iterable[Sequence[Any]]) -> Decisions:
    """Return decisions from their records."""
    return Decisions(tuple(from_json(DecisionRecord, record) for (record,) in rows))


def overrides_of(rows: Iterable[Sequence[Any]]) -> Overrides:
    """Return overrides from their records."""
    return Overrides(tuple(from_json(Override, record) for (record,) in rows))


def record_columns(records: Iterable[DecisionRecord | Override]) -> list[tuple[int, str, str, str]]:
    """Return rows for decisions or overrides: position, module, student and the record."""
    return [
        (number, column(one.module), column(one.student), _json(to_json(one))) for number, one in enumerate(records)
    ]


def _json(data: Any) -> str:
    return json.dumps(data)


def _json_or_null(data: Any) -> str | None:
    return None if data is None else _json(data)

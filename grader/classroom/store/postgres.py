"""The store in a PostgreSQL database, for several graders on several machines at once."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from grader.classroom.decisions import Decisions
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.overrides import Overrides
from grader.classroom.store.connection import Connection, StoreUrl
from grader.classroom.store.postgres_writer import PostgresWriter
from grader.classroom.store.rows import (
    ENTRY,
    column,
    decisions_of,
    entry_of,
    from_column,
    key_columns,
    overrides_of,
)
from grader.classroom.store.store import StoredReport
from grader.classroom.store.tables import require_version, version_of
from grader.core.atomic_file import file_name

BLOCK = 100  # reports that are read at a time


class PostgresStore:
    """The results of one class in a database. It connects when something is read, and writes with `open`."""

    def __init__(self, url: StoreUrl, name: str, tell: Callable[[str], None]) -> None:
        self._url = url
        self._name = PurePosixPath(name).as_posix()
        self._tell = tell
        self._class: int | None = None
        self._database = Connection(url, tell, self._prepare)

    def __str__(self) -> str:
        return f"{self._name} in {self._url.shown}"

    @property
    def name(self) -> str:
        return self._name

    @property
    def title(self) -> str:
        return str(self)

    @property
    def is_begun(self) -> bool:
        return bool(self._rows("select exists (select from report where class = %s)")[:1] == [(True,)])

    def journal(self) -> dict[ReportKey, JournalEntry]:
        found = map(entry_of, self._rows(f"select {ENTRY} from report where class = %s order by number"))
        return {entry.key: entry for entry in found}

    def read(self, key: ReportKey) -> bytes:
        return self._only(self._rows(f"select content::text {_ONE}", *key_columns(key)), key)

    def earlier(self, key: ReportKey) -> bytes | None:
        rows = self._rows(f"select earlier::text {_ONE}", *key_columns(key))
        return rows[0][0].encode() if rows and rows[0][0] is not None else None

    def where(self, what: ReportKey | str) -> str:
        if isinstance(what, str):
            return f"{what} of {self}"
        attempt = f", attempt {what.attempt}" if what.attempt else ""
        return f"the report of {what.student} for {what.module}{attempt} in {self}"

    def stored(self, module: str) -> Iterator[StoredReport]:
        """Yield the reports in the order of the files of a folder. They are read in blocks."""
        names = [name for (name,) in self._rows(f"select student {_COUNTED}", column(module))]
        names.sort(key=lambda name: f"{file_name(from_column(name))}.json")
        for start in range(0, len(names), BLOCK):
            block = names[start : start + BLOCK]
            rows = self._rows(f"select student, content::text {_COUNTED} and student = any(%s)", column(module), block)
            texts = dict(rows)
            for name in block:
                if name in texts:  # otherwise it was removed just now
                    student = from_column(name)
                    yield StoredReport(student, self.where(ReportKey(module, student)), texts[name].encode())

    def document(self, name: str) -> bytes:
        return self._only(self._rows("select content from document where class = %s and name = %s", name), name)

    def decisions(self) -> Decisions:
        return decisions_of(self._rows("select record from decision where class = %s order by position"))

    def overrides(self) -> Overrides:
        return overrides_of(self._rows("select record from override where class = %s order by position"))

    def open(self) -> PostgresWriter:
        """Open it for writing, and make the tables if the database is empty."""
        return PostgresWriter(self._url, self._name, self._tell)

    def _prepare(self, connection: Any) -> None:
        if version_of(connection):  # an empty database has no results: nothing is made in it for reading
            require_version(connection, self._url.shown)

    def _rows(self, query: str, *values: Any) -> list[Any]:
        """Return the rows of a query about this class; none if the database does not know the class."""

        def ask(connection: Any) -> list[Any]:
            if self._class is None:
                self._class = _class_of(connection, self._name)
            if self._class is None:
                return []
            rows: list[Any] = connection.execute(query, [self._class, *values]).fetchall()
            return rows

        return self._database.run(ask)

    def _only(self, rows: list[Any], what: ReportKey | str) -> bytes:
        if not rows:
            raise FileNotFoundError(errno.ENOENT, "there is none", self.where(what))
        text: str = rows[0][0]
        return text.encode()


_ONE = "from report where class = %s and module = %s and student = %s and attempt = %s"
_COUNTED = "from report where class = %s and module = %s and attempt = ''"


def _class_of(connection: Any, name: str) -> int | None:
    if not version_of(connection):
        return None
    row = connection.execute("select id from class where name = %s", [column(name)]).fetchone()
    return row[0] if row else None

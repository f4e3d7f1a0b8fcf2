"""A class in a database that is open for writing, by several graders at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from grader.classroom.decisions import Decisions
from grader.classroom.journal import JournalEntry, ReportKey
from grader.classroom.overrides import Overrides
from grader.classroom.store.connection import Connection, StoreUrl
from grader.classroom.store.rows import (
    ENTRY,
    column,
    decisions_of,
    entry_columns,
    entry_of,
    from_column,
    key_columns,
    overrides_of,
    record_columns,
)
from grader.classroom.store.store import DERIVED, EARLIER, LISTS, T
from grader.classroom.store.tables import require_version

# Advisory locks, together with the class. A grader holds GRADING shared from its first report until it ends. A
# transaction that writes holds WRITE: shared, or alone if it must see all that others wrote.
GRADING, WRITE = 0x61747401, 0x61747402
_PAGE = 500  # rows that are read at once
_KEY = "class = %s and module = %s and student = %s and attempt = %s"
# A count for each, so that the primary key finds it: without statistics, a join would read the complete class.
_MISSING = """
with one as (select %s::integer as class)
select wanted.module, wanted.student
from one, unnest(%s::text[], %s::text[], %s::text[]) as wanted (module, student, attempt)
where (
    select count(*) from report where report.class = one.class and report.module = wanted.module
    and report.student = wanted.student and report.attempt = wanted.attempt
) = 0
"""


class PostgresWriter:
    """One of the graders that write into a class.

    Every report is one transaction: the report and its line in the journal are there, or neither is. A lost connection
    is made again, and the transaction runs again. Writing the same report twice changes nothing.
    """

    damaged = 0  # a transaction leaves no half of a line

    def __init__(self, url: StoreUrl, name: str, tell: Callable[[str], None]) -> None:
        self.name = name
        self.url = url
        self._begun = False  # whether this grader has begun or joined a round
        self._class = 0
        self._database = Connection(url, tell, self._prepare)
        self._database.run(lambda _: None)

    def close(self) -> None:
        """End the connection, and with it the lock."""
        self._database.close()

    def atomically(self, work: Callable[[], T], *, alone: bool = False) -> T:
        """Run steps in one transaction."""
        if self._database.is_inside:
            return work()
        begun = self._begun
        # The first one may begin a round, so it is alone too.
        lock = "pg_advisory_xact_lock" if alone or not begun else "pg_advisory_xact_lock_shared"

        def steps(connection: Any) -> T:
            self._begun = begun  # an earlier try was rolled back
            connection.execute(f"select {lock}(%s, %s)", [WRITE, self._class])
            return work()

        try:
            return self._database.run(steps)
        except BaseException:
            self._begun = begun
            raise

    def begin(self) -> None:
        """Begin a new round, unless another grader is in the middle of one: then this one joins it.

        From here to the end of the last run there is no class list.
        """
        finished = self._rows("select name from document where class = %s and name = any(%s)", list(LISTS))
        if not self._begun and len(finished) == len(LISTS) and not self._others():
            self._do("delete from document where class = %s and starts_with(name, %s)", f"{EARLIER}/")
            self._do(
                "update report set earlier = null, replaced = null "
                "where class = %s and (earlier is not null or replaced is not null)"
            )
            self._do(
                "update document set name = %s || name where class = %s and name = any(%s)",
                *(f"{EARLIER}/", self._class, list(DERIVED)),
                plain=True,
            )
        elif finished:
            self._do("delete from document where class = %s and name = any(%s)", list(DERIVED))
        if not self._begun:
            self._do("select pg_advisory_lock_shared(%s, %s)", GRADING, self._class, plain=True)
        self._begun = True

    def entry(self, key: ReportKey) -> JournalEntry | None:
        rows = self._rows(f"select {ENTRY} from report where {_KEY}", *key_columns(key))
        return entry_of(rows[0]) if rows else None

    def find(self, key: ReportKey) -> tuple[JournalEntry | None, bytes | None]:
        rows = self._rows(f"select {ENTRY}, content::text from report where {_KEY}", *key_columns(key))
        return (entry_of(rows[0]), rows[0][-1].encode()) if rows else (None, None)

    def entries(self, module: str, student: str) -> list[JournalEntry]:
        where = "class = %s and module = %s and student = %s order by attempt"
        return [
            *map(entry_of, self._rows(f"select {ENTRY} from report where {where}", column(module), column(student)))
        ]

    def put(self, entry: JournalEntry, text: str | None = None) -> None:
        """Write the row of a report, in place of the one that is there."""
        columns = entry_columns(entry)
        if text is None:
            self._do(
                f"update report set sha256 = %s, provenance = %s, replaced = %s, mark = %s where {_KEY}",
                *(*columns, self._class, *key_columns(entry.key)),
                plain=True,
            )
            return
        self._do(
            "insert into report (class, module, student, attempt, sha256, provenance, replaced, mark, content) "
            "values (%s, %s, %s, %s, %s, %s, %s, %s, %s) on conflict (class, module, student, attempt) do update set "
            "sha256 = excluded.sha256, provenance = excluded.provenance, replaced = excluded.replaced, "
            "mark = excluded.mark, content = excluded.content, written = now()",
            *(*key_columns(entry.key), *columns, text),
        )

    def counted(self) -> Iterator[JournalEntry]:
        """Yield the rows of students, from all runs and graders, some at a time."""
        # In the order of the primary key, whatever the database's alphabet: any other would be sorted for each page.
        where = f"class = %s and attempt = '' and (module, student) > (%s, %s) order by module, student limit {_PAGE}"
        last = "", ""
        while rows := self._rows(f"select {ENTRY} from report where {where}", *last):
            yield from map(entry_of, rows)
            last = rows[-1][:2]

    def unmarked(self) -> list[str]:
        """Return the reports whose run has not finished."""
        rows = self._rows("select module, student from report where class = %s and attempt = '' and mark is null")
        return sorted(f"{module}/{from_column(student)}" for module, student in rows)

    def missing(self, keys: Iterable[ReportKey]) -> str | None:
        """Return the first report that another program removed."""
        left = iter(keys)
        while some := list(islice(left, _PAGE)):
            wanted = [list(one) for one in zip(*map(key_columns, some), strict=True)]
            for module, student in self._rows(_MISSING, *wanted):
                return f"the report of {from_column(student)} for {module}"
        return None

    def earlier(self, key: ReportKey) -> bytes | None:
        rows = self._rows(f"select earlier::text from report where {_KEY}", *key_columns(key))
        return rows[0][0].encode() if rows and rows[0][0] is not None else None

    def keep_earlier(self, key: ReportKey, data: bytes) -> None:
        self._do(
            f"update report set earlier = %s where {_KEY}",
            *(data.decode(), self._class, *key_columns(key)),
            plain=True,
        )

    def put_document(self, name: str, parts: Iterable[str]) -> None:
        self._do(
            "insert into document (class, name, content) values (%s, %s, %s) "
            "on conflict (class, name) do update set content = excluded.content",
            *(name, "".join(parts)),
        )

    def decisions(self, key: ReportKey | None = None) -> Decisions:
        """Return the decisions of now: another person may decide while this grader runs."""
        query = "select record from decision where class = %s"
        if key is None:
            return decisions_of(self._rows(f"{query} order by position"))
        values = key_columns(key)[:2]
        return decisions_of(self._rows(f"{query} and module = %s and student = %s order by position", *values))

    def save_decisions(self, decisions: Decisions) -> None:
        self._replace("decision", record_columns(decisions.records))

    def overrides(self) -> Overrides:
        """Return what is given by hand now."""
        return overrides_of(self._rows("select record from override where class = %s order by position"))

    def save_overrides(self, overrides: Overrides) -> None:
        self._replace("override", record_columns(overrides.records))

    def _replace(self, table: str, rows: list[tuple[int, str, str, str]]) -> None:
        def steps(connection: Any) -> None:
            connection.execute(f"delete from {table} where class = %s", [self._class])
            insert = f"insert into {table} (class, position, module, student, record) values (%s, %s, %s, %s, %s)"
            connection.cursor().executemany(insert, [(self._class, *row) for row in rows])

        self._database.run(steps)

    def _prepare(self, connection: Any) -> None:
        """Find or make the class on a new connection. A lost connection has lost its lock, too."""
        require_version(connection, self.url.shown)
        name = column(self.name)
        connection.execute("insert into class (name) values (%s) on conflict do nothing", [name])
        (self._class,) = connection.execute("select id from class where name = %s", [name]).fetchone()
        if self._begun:
            connection.execute("select pg_advisory_lock_shared(%s, %s)", [GRADING, self._class])

    def _others(self) -> bool:
        """Whether another grader is in the middle of this class."""
        rows = self._database.run(
            lambda connection: connection.execute(
                "select from pg_locks where locktype = 'advisory' and classid = %s and objid = %s and objsubid = 2 "
                "and database = (select oid from pg_database where datname = current_database()) "
                "and pid <> pg_backend_pid() and granted",
                [GRADING, self._class],
            ).fetchall()
        )
        return bool(rows)

    def _rows(self, query: str, *values: Any) -> list[Any]:
        return self._database.run(lambda connection: connection.execute(query, [self._class, *values]).fetchall())

    def _do(self, query: str, *values: Any, plain: bool = False) -> None:
        """Run a statement. Its first value is the class, unless it is `plain`."""
        given = values if plain else (self._class, *values)
        self._database.run(lambda connection: connection.execute(query, given))

"""What a database holds: its server, the version of its tables, and its classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from grader.classroom.store.connection import Connection
from grader.classroom.store.migrations import migrate, migrations, version_of
from grader.classroom.store.rows import from_column
from grader.classroom.store.url import StoreUrl

T = TypeVar("T")


@dataclass(frozen=True)
class Catalog:
    """A database: the version of its server, the version of its tables and the one that is needed, and its classes."""

    server: str
    version: int
    wanted: int
    classes: tuple[str, ...]


def read_catalog(url: StoreUrl) -> Catalog:
    """Return what a database holds. An empty one has version 0."""

    def read(connection: Any) -> Catalog:
        version, wanted = version_of(connection), len(migrations())
        rows = connection.execute("select name from class order by name").fetchall() if version else []
        (server,) = connection.execute("show server_version").fetchone()
        return Catalog(server.partition(" ")[0], version, wanted, tuple(from_column(name) for (name,) in rows))

    return _connected(url, lambda connection: connection.run(read))


def migrate_database(url: StoreUrl) -> list[str]:
    """Make or change the tables of a database; return the steps that were needed."""
    made: list[str] = []
    _connected(url, lambda connection: connection.run(lambda _: None), lambda new: made.extend(migrate(new)))
    return made


def _connected(url: StoreUrl, work: Callable[[Connection], T], prepare: Callable[[Any], None] = lambda _: None) -> T:
    connection = Connection(url, lambda _: None, prepare)
    try:
        return work(connection)
    finally:
        connection.close()

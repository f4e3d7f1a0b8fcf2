"""The tables in a database: made and changed by numbered SQL files, with one row of a table for each class.

Each file runs once. All that are missing run in one transaction: no grader ever sees half of them.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.classroom.store import StoreError
from grader.classroom.store.connection import Connection, StoreUrl
from grader.classroom.store.rows import from_column

FOLDER = Path(__file__).parent / "migrations"
LOCK = 0x6174746E  # of this program: two that begin at once make the tables once
_VERSIONS = """
create table if not exists attn_migration (
    version integer primary key, name text not null, applied timestamptz not null default now()
)
"""


@dataclass(frozen=True)
class Migration:
    """One step of the tables."""

    version: int
    name: str
    sql: str


@cache
def migrations(folder: Path = FOLDER) -> tuple[Migration, ...]:
    """Return the steps in a folder, in order."""
    paths = sorted(folder.glob("*.sql"))
    found = tuple(
        Migration(int(match[1]), path.stem, path.read_text(encoding="utf-8"))
        for path in paths
        if (match := re.fullmatch(r"(\d{4})_\w+", path.stem))
    )
    if [one.version for one in found] != list(range(1, len(paths) + 1)):
        raise StoreError(f"the migrations in {folder} are not numbered one by one")
    return found


def version_of(connection: Any) -> int:
    """Return the version of the tables in a database; 0 if it has none of ours."""
    (there,) = connection.execute("select to_regclass('attn_migration') is not null").fetchone()
    if not there:
        return 0
    (version,) = connection.execute("select coalesce(max(version), 0) from attn_migration").fetchone()
    return int(version)


def migrate(connection: Any, folder: Path = FOLDER) -> list[str]:
    """Bring the tables of a database to the version of this program; return the steps that were needed."""
    steps = migrations(folder)
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
        connection.execute(_VERSIONS)  # first: a look for this table may answer from before the wait for the lock
        missing = steps[version_of(connection) :]
        for step in missing:
            connection.execute(step.sql)
            connection.execute("insert into attn_migration (version, name) values (%s, %s)", [step.version, step.name])
    return [step.name for step in missing]


def require_version(connection: Any, where: str, folder: Path = FOLDER) -> None:
    """Make the tables of an empty database; StoreError if they are older or newer than this program.

    Older tables are not changed here: a grader that still runs somewhere may need them.
    """
    there, wanted = version_of(connection), len(migrations(folder))
    if there == 0:
        migrate(connection, folder)
    elif there < wanted:
        fix = "Stop all graders that use it, then run: attn store migrate"
        raise StoreError(f"{where} has tables of version {there}, and this AttnLab needs {wanted}. {fix}")
    elif there > wanted:
        fix = "Install the same AttnLab on all machines"
        raise StoreError(f"{where} has tables of version {there}, and this AttnLab knows only {wanted}. {fix}")


@dataclass(frozen=True)
class Catalog:
    """A database: the version of its server, the version of its tables and the one that is needed, and its classes."""

    server: str
    version: int
    wanted: int
    classes: tuple[str, ...]


def read_catalog(url: StoreUrl) -> Catalog:
    """Return what a database holds. An empty one has version 0."""
    with closing(Connection(url)) as connection:
        return connection.run(_catalog)


def _catalog(connection: Any) -> Catalog:
    version, wanted = version_of(connection), len(migrations())
    rows = connection.execute("select name from class order by name").fetchall() if version else []
    (server,) = connection.execute("show server_version").fetchone()
    return Catalog(server.partition(" ")[0], version, wanted, tuple(from_column(name) for (name,) in rows))


def migrate_database(url: StoreUrl) -> list[str]:
    """Make or change the tables of a database; return the steps that were needed."""
    with closing(Connection(url)) as connection:
        return connection.run(migrate)

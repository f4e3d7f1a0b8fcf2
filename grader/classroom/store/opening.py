"""Opens the store that a URL names. What PostgreSQL needs is imported only here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.classroom.store import StoreError

if TYPE_CHECKING:
    from grader.classroom.store.postgres import PostgresStore

INSTALL = "To install it, run: python -m pip install 'attnlab[postgres]'"


def open_store(url: str, name: str, *, tell: Callable[[str], None] = lambda _: None) -> PostgresStore:
    """Return the results of a class in a database. Nothing is connected until something is read.

    `tell` gets a sentence whenever the connection is lost, and when it is there again.
    """
    if not _is_installed():
        raise StoreError(f"results in a database need the package psycopg. {INSTALL}")
    from grader.classroom.store.connection import read_url
    from grader.classroom.store.postgres import PostgresStore

    return PostgresStore(read_url(url), name, tell)


def _is_installed() -> bool:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return False
    return True

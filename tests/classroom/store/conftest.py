"""One real PostgreSQL server for the tests of this folder, and a new database for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import Database, Server, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that runs as long as the tests."""
    yield from running_server()


@pytest.fixture
def database(server: Server) -> Database:
    """An empty database."""
    return server.new_database()

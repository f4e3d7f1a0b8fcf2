"""A real PostgreSQL server for tests: in a temporary folder, on a Unix socket, and never as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

USER = "grader"
PASSWORD = "pass/word:of@graders"  # every character that a URL must escape


def programs() -> Path | None:
    """Return the folder of the newest server on this machine."""
    found = shutil.which("pg_ctl")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: float(path.parts[-3]))
    path = Path(found).resolve() if found else installed[-1] if installed else None
    return path.parent if path else None


class Server:
    """A server that a test may stop and start again."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self.folder = folder
        self._bin = bin_folder
        self._count = 0
        (folder / "password").write_text(PASSWORD + "\n")
        if os.getuid() == 0:  # a server refuses to run as root
            owner = pwd.getpwnam("postgres")
            for path in (folder, folder / "password"):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "-D", self._data, "-U", USER, "--auth=scram-sha-256", f"--pwfile={folder / 'password'}")
        settings = ["listen_addresses = ''", f"unix_socket_directories = '{folder}'", "fsync = off"]
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write("\n".join([*settings, ""]))
        self.start()

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._run("pg_ctl", "start", "-w", "-D", self._data, "-l", str(self.folder / "log"))

    def stop(self) -> None:
        """Stop it as a power cut would."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self._data)

    def restart(self) -> None:
        """Stop it as a power cut would, and start it again."""
        self._run("pg_ctl", "restart", "-w", "-m", "immediate", "-D", self._data, "-l", str(self.folder / "log"))

    def new_database(self) -> Database:
        """Make an empty database."""
        self._count += 1
        name = f"class{self._count}"
        Database(self, "postgres").sql(f"create database {name} template template0 encoding 'UTF8'")
        return Database(self, name)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        with (self.folder / "commands").open("w+b") as said:  # not a pipe: the server would keep it open
            done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            said.seek(0)
            assert done.returncode == 0, (command, said.read().decode())


class Database:
    """One database of the server."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name

    @property
    def url(self) -> str:
        """The URL, with the password."""
        return f"postgresql://{USER}:{quote(PASSWORD, safe='')}@/{self.name}?host={quote(str(self.server.folder))}"

    @property
    def nbgrader_url(self) -> str:
        """The URL as SQLAlchemy wants it."""
        return self.url.replace("postgresql://", "postgresql+psycopg2://")

    def sql(self, query: str, *values: object) -> list[Any]:
        """Run one statement, and return its rows."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []


def running_server() -> Iterator[Server]:
    """Yield a running server; skip where none is installed. In CI, fail."""
    found = programs()
    if found is None:
        reason = "no PostgreSQL server here, so results in a database are not tested: make database"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="attn-pg-", dir="/tmp"))  # the path of a socket must be short
    try:
        server = Server(folder, found)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

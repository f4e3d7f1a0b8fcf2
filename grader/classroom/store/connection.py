"""A connection to PostgreSQL that is made again when it is lost; its URL is shown without the password."""

from __future__ import annotations

import contextlib
import re
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

import psycopg
from psycopg import ProgrammingError, errors
from psycopg.conninfo import conninfo_to_dict

from grader.classroom.store import StoreError

WAIT_S = 120.0  # a server that restarts or fails over is back by then
LONGEST_PAUSE_S = 2.0
_STANDBY = errors.ReadOnlySqlTransaction  # from a server that has not taken over yet
_LOST = (psycopg.OperationalError, psycopg.InterfaceError, _STANDBY)  # the first also for full disks and timeouts
_AGAIN = (errors.DeadlockDetected, errors.SerializationFailure)  # the connection is fine: only try again
SCHEMES = ("postgresql://", "postgres://")
EXAMPLE = "postgresql://grader@db.example.edu/classroom"
ENCODE = "In a password, write %40 for @, %2F for /, %3A for :, %23 for # and %3F for ?"
T = TypeVar("T")


@dataclass(frozen=True)
class StoreUrl:
    """A URL that was understood. `shown` has no password."""

    text: str = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def hide(self, text: str) -> str:
        """Return a text of the database's without the password."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def read_url(text: str) -> StoreUrl:
    """Return a URL; StoreError if it is not one of PostgreSQL. Nothing of it is repeated: it may hold a password."""
    if not text.startswith(SCHEMES):
        scheme = re.match(r"[a-z0-9]+(\+[a-z0-9]+)?(?=://)", text)
        said = f", not with {scheme[0]}://" if scheme else ""
        raise StoreError(f"the URL of a store begins with postgresql://{said}. Such as {EXAMPLE}")
    # With a bare @ in it, a part of a password would become the name of a host, and would be shown.
    if text.partition("?")[0].count("@") > 1:
        raise StoreError(f"the URL of the store has more than one @. {ENCODE}")
    try:
        found = {name: str(value) for name, value in conninfo_to_dict(text).items() if value is not None}
    except ProgrammingError:  # its message repeats a part of the URL
        raise StoreError(f"the URL of the store cannot be read. It is written like {EXAMPLE}. {ENCODE}") from None
    # A bare / in a password ends the name of the host there: the rest of the password would be shown.
    if not re.fullmatch(r"[\d,]*", found.get("port", "")) or "@" in found.get("dbname", ""):
        raise StoreError(f"the URL of the store has a port that is not a number, or an @ at a wrong place. {ENCODE}")
    host, port, user = found.get("host", ""), found.get("port", ""), found.get("user", "")
    place = f"{f'{quote(user)}@' if user else ''}{'' if host.startswith('/') else host}{f':{port}' if port else ''}"
    shown = f"postgresql://{place}/{found.get('dbname', '')}{f'?host={host}' if host.startswith('/') else ''}"
    secrets = tuple(value for name in ("password", "sslpassword") if (value := found.get(name)))
    return StoreUrl(text, shown, secrets)


class Connection:
    """A connection that runs transactions, each completely or not at all, and again if the server went away.

    `prepare` runs on every new connection, before anything else.
    """

    def __init__(
        self,
        url: StoreUrl,
        tell: Callable[[str], None] = lambda _: None,
        prepare: Callable[[Any], None] = lambda _: None,
        wait_s: float = WAIT_S,
    ) -> None:
        self.url = url
        self._tell = tell
        self._prepare = prepare
        self._wait_s = wait_s
        self._made: Any = None
        self._inside: Any = None  # the connection while a transaction runs

    @property
    def is_inside(self) -> bool:
        """Whether a transaction runs."""
        return self._inside is not None

    def run(self, work: Callable[[Any], T]) -> T:
        """Run steps in a transaction, and return what they return. They may run several times before it succeeds.

        A call inside another one belongs to its transaction.
        """
        if self._inside is not None:
            return work(self._inside)
        lost_at: float | None = None
        pause = 0.05
        while True:
            try:
                result = self._run_once(work)
            except _AGAIN:
                continue
            except _LOST as error:
                if self._made is not None and not self._made.closed and not isinstance(error, _STANDBY):
                    raise self._error("refused a request", error) from None
                first_time = self._made is None and lost_at is None
                self._drop()
                if lost_at is None:
                    if first_time:  # a wrong name, a wrong password, no server
                        raise self._error("cannot be opened", error) from None
                    lost_at = time.monotonic()
                    self._tell(f"{self.url.shown} does not answer. Trying again for {self._wait_s:g} s")
                elif time.monotonic() - lost_at > self._wait_s:
                    raise self._error(f"has not answered for {self._wait_s:g} s", error) from None
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
            except psycopg.Error as error:
                raise self._error("refused a request", error) from None
            else:
                if lost_at is not None:
                    self._tell(f"{self.url.shown} answers again")
                return result

    def close(self) -> None:
        """End the connection."""
        self._drop()

    def _run_once(self, work: Callable[[Any], T]) -> T:
        if self._made is None:
            made = psycopg.connect(self.url.text, autocommit=True, connect_timeout=10, application_name="attn")
            try:
                made.execute("set time zone 'UTC'")
                self._prepare(made)
            except BaseException:
                made.close()
                raise
            self._made = made
            self._close = weakref.finalize(self, made.close)  # a reader is never closed, only forgotten
        try:
            with self._made.transaction():
                self._inside = self._made
                return work(self._made)
        finally:
            self._inside = None

    def _drop(self) -> None:
        if self._made is not None:
            with contextlib.suppress(psycopg.Error):
                self._close()
        self._made = None

    def _error(self, what: str, error: psycopg.Error) -> StoreError:
        reason = " ".join(str(error).split())
        fix = "Check the URL, and that the database runs"
        return StoreError(f"{self.url.shown} {what}: {self.url.hide(reason)}. {fix}")

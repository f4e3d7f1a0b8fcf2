"""A connection to PostgreSQL that is made again when it is lost."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from grader.classroom.store import StoreError
from grader.classroom.store.url import StoreUrl

WAIT_S = 120.0  # a server that restarts or fails over is back by then
LONGEST_PAUSE_S = 2.0
_STANDBY = errors.ReadOnlySqlTransaction  # from a server that has not taken over yet
_LOST = (psycopg.OperationalError, psycopg.InterfaceError, _STANDBY)  # the first also for full disks and timeouts
_AGAIN = (errors.DeadlockDetected, errors.SerializationFailure)  # the connection is fine: only try again

Tell = Callable[[str], None]
T = TypeVar("T")


class Connection:
    """A connection that runs transactions, each completely or not at all, and again if the server went away.

    `prepare` runs on every new connection, before anything else.
    """

    def __init__(
        self, url: StoreUrl, tell: Tell, prepare: Callable[[Any], None] = lambda _: None, wait_s: float = WAIT_S
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

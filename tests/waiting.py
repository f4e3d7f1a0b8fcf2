"""Waiting for a thing that a test names, with a limit: the only pause between two looks is here."""

from __future__ import annotations

import time
from collections.abc import Callable
from subprocess import Popen
from typing import Any, TypeVar

LIMIT = 120.0  # seconds, for a slow machine; no test depends on its value
PAUSE = 0.02

T = TypeVar("T")


def wait_until(
    what: str, condition: Callable[[], T], limit: float = LIMIT, *, by: Popen[Any] | None = None, pause: float = PAUSE
) -> T:
    """Return what a condition gives as soon as it is true. Fail after the limit, or when the process has ended."""
    until = time.monotonic() + limit
    while not (found := condition()):
        assert by is None or by.poll() is None, f"the process ended with {by.returncode} before this: {what}"
        if time.monotonic() > until:
            raise TimeoutError(f"not in {limit:g} seconds: {what}")
        time.sleep(pause)
    return found

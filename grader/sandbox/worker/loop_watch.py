"""A limit on student code that runs in this process: a loop is ended after some seconds.

A jailed worker needs no such limit, because its grader kills it. In a browser there is no other process to kill.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

NAME = "attnlab"


class OverTimeError(BaseException):
    """The time is over. No `except Exception` of the student's catches it."""


class LoopWatch:
    """Raises OverTimeError at the next round of a loop in some files, once their time is over.

    It needs Python 3.12. Before that, and inside a function of a library, nothing is limited.
    """

    def __init__(self) -> None:
        self.place: tuple[str, int] | None = None  # the file and line of the loop that was ended
        self._files: Container[str] = ()
        self._end = 0.0

    @contextmanager
    def limited(self, seconds: float, files: Container[str]) -> Iterator[None]:
        """Limit the time of a `with` block; only loops in `files` are ended."""
        self._files, self._end, self.place = files, time.monotonic() + seconds, None
        # mypy checks for Python 3.11, which has no such module.
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is None:
            yield
            return
        jump = monitoring.events.JUMP
        monitoring.use_tool_id(monitoring.PROFILER_ID, NAME)
        monitoring.register_callback(monitoring.PROFILER_ID, jump, self._jumped)
        monitoring.set_events(monitoring.PROFILER_ID, jump)
        try:
            yield
        finally:
            monitoring.set_events(monitoring.PROFILER_ID, 0)
            monitoring.register_callback(monitoring.PROFILER_ID, jump, None)
            monitoring.free_tool_id(monitoring.PROFILER_ID)

    def _jumped(self, code: CodeType, at: int, to: int) -> Any:
        """Look at the clock when a loop begins its next round. Jumps in other files are never reported again."""
        if code.co_filename not in self._files:
            return sys.monitoring.DISABLE  # type: ignore[attr-defined] # new in Python 3.12
        if to <= at and time.monotonic() > self._end:
            self.place = self.place or (code.co_filename, sys._getframe(1).f_lineno)
            raise OverTimeError
        return None

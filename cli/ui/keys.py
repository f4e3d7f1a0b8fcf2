"""Single keys of a terminal, without waiting for Enter; the terminal is always restored."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from types import TracebackType


class Keys:
    """Reads keys while it is open; without a terminal there are no keys."""

    def __init__(self) -> None:
        self._restore = contextlib.ExitStack()
        self.is_open = False

    def __enter__(self) -> Keys:
        if sys.stdin.isatty():
            self._restore.enter_context(_single_keys())
            self.is_open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.is_open = False
        self._restore.close()

    def wait(self, seconds: float) -> str:
        """Return the key that is pressed within this time, else an empty string."""
        if not self.is_open:
            time.sleep(seconds)
            return ""
        return _key_within(seconds)


if sys.platform == "win32":
    import msvcrt

    @contextlib.contextmanager
    def _single_keys() -> Iterator[None]:
        yield

    def _key_within(seconds: float) -> str:
        if not msvcrt.kbhit():
            time.sleep(seconds)
        return msvcrt.getwch() if msvcrt.kbhit() else ""

else:
    import os
    import select
    import termios

    @contextlib.contextmanager
    def _single_keys() -> Iterator[None]:
        """Deliver keys one by one, without echo; Ctrl-C works as usual."""
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        changed = termios.tcgetattr(terminal)
        changed[3] &= ~(termios.ICANON | termios.ECHO)
        try:
            termios.tcsetattr(terminal, termios.TCSADRAIN, changed)
            yield
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _key_within(seconds: float) -> str:
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 1).decode("latin-1")

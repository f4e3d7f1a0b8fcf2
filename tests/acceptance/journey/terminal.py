"""A program in a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

PATIENCE = 120.0  # for a slow machine; no test depends on its value
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program in a pseudo-terminal of its own."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        # Until the program has begun, the child is a copy of the tests: a Ctrl-C there must end it and nothing else.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # the process that runs the tests may ignore it
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                os.chdir(cwd)
                os.execvpe(command[0], list(command), {**os.environ, "TERM": "xterm", "COLUMNS": "80", **(env or {})})
            finally:
                os._exit(127)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        self.raw = ""
        self.mark = 0

    @property
    def text(self) -> str:
        """What was shown so far, without colours."""
        return _ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def expect(self, text: str) -> None:
        """Wait until a text appears after the previously expected one."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.text.find(text, self.mark)) < 0:
            assert time.monotonic() < deadline, f"{text!r} did not come:\n{self.text[-3000:]}"
            assert self._read(), f"it ended before {text!r} came:\n{self.text[-3000:]}"
        self.mark = found + len(text)

    def type(self, keys: str) -> None:
        """Type something."""
        os.write(self.fd, keys.encode())

    def echoes(self) -> bool:
        """Whether the terminal is in its normal mode: it echoes, and input comes line by line."""
        flags: int = termios.tcgetattr(self.fd)[3]
        return bool(flags & termios.ECHO and flags & termios.ICANON)

    def finish(self) -> int:
        """Wait for the end and return the exit status."""
        deadline = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < deadline, f"it does not end:\n{self.text[-3000:]}"
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)

    def below(self) -> list[psutil.Process]:
        """Return all processes that it started, directly or indirectly."""
        found: list[psutil.Process] = psutil.Process(self.pid).children(recursive=True)
        return found

    def kill(self) -> None:
        """Kill it."""
        os.kill(self.pid, signal.SIGKILL)

    def _read(self) -> bool:
        """Read what is shown; return False after the program has ended."""
        ready, _, _ = select.select([self.fd], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65_536)
        except OSError:  # on Linux: the other side is closed
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

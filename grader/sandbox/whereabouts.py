"""The line that a call was in when its time was over, in the worker's own words: for a message, never for a verdict."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

__tracebackhide__ = True

WAIT_SECONDS = 2.0  # for a worker that does not answer; it is killed in any case
MOST_BYTES = 64 << 10
_FRAME = re.compile(rb'File "([^"\n]{1,300})", line (\d{1,7}) in ')


def read_place(sock: socket.socket, lines: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the innermost of the student's files and lines in what faulthandler writes; None if there is none.

    `lines` has the number of lines of each file. Whatever the worker sends, the answer is one of these lines.
    """
    started = time.monotonic()
    text = b""
    while len(text) < MOST_BYTES and time.monotonic() - started < WAIT_SECONDS:
        try:
            chunk = sock.recv(4096)
        except (TimeoutError, BlockingIOError):
            continue
        except OSError:
            return None
        if not chunk:
            return None
        text += chunk
        for file, line in _FRAME.findall(text):
            name = file.decode("utf-8", "replace")
            if 0 < int(line) <= lines.get(name, 0):
                return name, int(line)
    return None

"""Output of a student's prints, kept up to a limit."""

from __future__ import annotations

import io
from typing import Any

MAX_PRINTED = 16_384


class BoundedOutput(io.RawIOBase):
    """A stream that keeps its first bytes and drops the rest."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2  # the null device: faulthandler and others need a number

    def write(self, data: Any) -> int:
        room = MAX_PRINTED - len(self.data)
        self.data += bytes(data)[: max(room, 0)]
        return len(data)

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = self.data.decode("utf-8", "replace")
        self.data.clear()
        return text

"""A channel that sends complete messages over a socket. A slow or silent peer cannot block the reader."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from grader.sandbox.protocol import wire
from grader.sandbox.protocol.decoder import decode_parts, lengths
from grader.sandbox.protocol.encoder import encode

POLL_SECONDS = 0.2
CHUNK = 64 << 10


class ClosedError(Exception):
    """The other side closed the channel."""


def _forever() -> None:
    """Wait without limit, as a worker does between two requests."""


class Channel:
    """One end of a connection; `tensors` says whether it may carry torch tensors.

    With `waits`, it waits without limit, as a worker does. A call on its socket is then one system call, not two.
    """

    def __init__(self, sock: socket.socket, *, tensors: bool, waits: bool = False) -> None:
        self.sock = sock
        self.tensors = tensors
        self._buffer = bytearray()
        if waits or sys.platform == "linux":
            sock.settimeout(None)
        else:
            sock.settimeout(POLL_SECONDS)
        if not waits and sys.platform == "linux":  # the kernel's own limit: Python's would ask before each call
            limit = struct.pack("@ll", 0, int(POLL_SECONDS * 1e6))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)

    def send(
        self,
        message: dict[str, Any],
        keep: Callable[[object], wire.Remote] | None = None,
        patience: Callable[[], None] = _forever,
    ) -> None:
        """Send one message. `patience` is called regularly, and raises when the time is over."""
        rest = memoryview(encode(message, keep, tensors=self.tensors))
        asked = time.monotonic()
        while rest:
            try:
                rest = rest[self.sock.send(rest[:CHUNK]) :]  # in parts: the time limit is for each
            except (TimeoutError, BlockingIOError):
                pass
            except OSError as error:
                raise ClosedError(str(error)) from None
            asked = _ask(patience, asked)

    def receive_byte(self, patience: Callable[[], None] = _forever) -> bytes:
        """Return the next byte, which is not part of a message."""
        return bytes(self._exactly(1, patience, [time.monotonic()]))

    def receive(self, patience: Callable[[], None] = _forever) -> Any:
        """Return the next message, or raise ProtocolError, ClosedError, or what `patience` raises."""
        asked = [time.monotonic()]
        header_length, body_length = lengths(self._exactly(wire.PREFIX.size, patience, asked))
        header = self._exactly(header_length, patience, asked)
        body = self._exactly(body_length, patience, asked)
        return decode_parts(memoryview(header), memoryview(body), tensors=self.tensors)

    def _exactly(self, count: int, patience: Callable[[], None], asked: list[float]) -> bytearray:
        """Return the next `count` bytes. Memory is allocated only as bytes arrive, whatever length was announced."""
        while len(self._buffer) < count:
            try:
                chunk = self.sock.recv(CHUNK)
            except (TimeoutError, BlockingIOError):
                chunk = None
            except OSError as error:
                raise ClosedError(str(error)) from None
            if chunk == b"":
                raise ClosedError("end of file")
            self._buffer += chunk or b""
            # A peer that sends one byte at a time never lets recv time out, so we check the clock.
            asked[0] = _ask(patience, asked[0])
        data = self._buffer[:count]
        del self._buffer[:count]
        return data

    def close(self) -> None:
        self.sock.close()


def _ask(patience: Callable[[], None], asked: float) -> float:
    now = time.monotonic()
    if now - asked < POLL_SECONDS:
        return asked
    patience()
    return now

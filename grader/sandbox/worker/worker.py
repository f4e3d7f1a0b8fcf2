"""The worker: the process that runs a student's code and answers requests until its channel closes.

The trusted side believes nothing that this process says. It imports neither solutions nor tests and decides nothing.
It loads source, makes calls and sends back the results.
"""

from __future__ import annotations

import faulthandler
import io
import signal
import socket
import sys
from typing import Any

from grader.sandbox.protocol import wire
from grader.sandbox.protocol.channel import Channel, ClosedError
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.operations import OPERATIONS
from grader.sandbox.worker.seeding import replace_system_randomness, seed_everything

READY = b"\x06"  # the first byte that a session reads: what goes wrong before it is not the student's fault
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


class Worker(StudentObjects):
    """The objects of one submission, and the answers to requests about them."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out a request and return the reply. An error in student code is a reply too.

        Requests that needed no reply come along under "before", and are carried out first. The reply also has the
        arguments that student code changed, and the functions it called, if there are any.
        """
        return self._reply(request) | self.watch.take()

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("afresh"):
            self.forget()
            seed_everything(0)
        try:
            for number, one in enumerate((*request.get("before", ()), request)):
                self.watch.begin(number)
                answer = OPERATIONS[one["op"]](self, one)
            return {"ok": answer}
        except BaseException as error:  # noqa: BLE001 - the student's SystemExit and KeyboardInterrupt, too
            return {"error": self.describe(error)}


def serve(sock: socket.socket, *, tensors: bool) -> None:
    """Say that the worker is ready, then answer requests on a socket until it closes."""
    channel = Channel(sock, tensors=tensors, waits=True)
    sock.sendall(READY)
    if hasattr(faulthandler, "register"):  # not on Windows; the grader asks before it stops a call that takes too long
        faulthandler.register(signal.SIGUSR1, file=sock.fileno(), all_threads=False)
    printed = BoundedOutput()
    stream = io.TextIOWrapper(printed, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]
    sys.stdout = sys.stderr = stream
    replace_system_randomness()
    seed_everything(0)
    worker = Worker()
    while True:
        try:
            request = channel.receive()
        except ClosedError:
            return
        reply = {"id": request["id"], **worker.answer(request)}
        try:
            channel.send({**reply, "printed": printed.take()}, worker.keep)
        except (wire.UnsendableError, MemoryError) as error:
            noted: dict[str, Any] = {part: reply[part] for part in ("changed", "called") if part in reply}
            channel.send({"id": request["id"], **noted, "error": worker.describe(error), "printed": printed.take()})


def main() -> None:
    """Serve on the socket that the parent process passed: the entry point of a worker started without a zygote."""
    from grader.sandbox.worker.warm_up import warm_up

    backend, fd = sys.argv[1], sys.argv[2]
    warm_up(backend)
    sock = socket.fromshare(sys.stdin.buffer.read()) if fd == "share" else socket.socket(fileno=int(fd))  # type: ignore[attr-defined]
    serve(sock, tensors=backend == "torch")


if __name__ == "__main__":
    main()

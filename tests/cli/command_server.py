"""Runs `attn` in a copy of a process that has imported it: a new Python would import the same for every test.

`command_server.py` answers on a socket. For each request it forks, and the copy becomes the command: with its own
arguments, folder, environment and streams. The server itself runs no command, so nothing is left from one to the next.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

CAN_FORK = sys.platform == "linux"
HEAVY = {"torch", "nbgrader", "distributed"}  # the commands import these when they need them, and so do their copies
STREAMS = 3


class CommandServer:
    """The process that is copied."""

    def __init__(self, executable: str) -> None:
        self.executable = executable
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", __file__, executable, str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._socket = ours

    def run(self, arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command and return its output and its exit status, as `subprocess.run` does."""
        words = [self.executable, *arguments]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
            request = json.dumps([words, str(cwd), dict(os.environ)]).encode("utf-8", "surrogateescape")
            self._socket.sendall(len(request).to_bytes(8))
            socket.send_fds(self._socket, [b"."], [nothing.fileno(), out.fileno(), err.fileno()])
            self._socket.sendall(request)
            answer = self._socket.recv(8)
            assert len(answer) == 8, "the server of commands has ended"
            out.seek(0)
            err.seek(0)
            status = int.from_bytes(answer, signed=True)
            return subprocess.CompletedProcess(words, status, _text(out.read()), _text(err.read()))

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.wait()


def _text(data: bytes) -> str:
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def serve(executable: str, connection: socket.socket) -> None:
    """Answer requests until the tests have ended."""
    from cli.main import COMMANDS

    for name in ("numpy", "pytest", *sorted({module for module, _ in COMMANDS.values()})):
        importlib.import_module(name)
    assert not HEAVY & sys.modules.keys()
    while head := connection.recv(8, socket.MSG_WAITALL):
        _, streams, _, _ = socket.recv_fds(connection, 1, STREAMS)
        words, cwd, environment = json.loads(connection.recv(int.from_bytes(head), socket.MSG_WAITALL))
        child = os.fork()
        if child == 0:
            connection.close()
            become([executable, *words[1:]], cwd, environment, streams)
        for stream in streams:
            os.close(stream)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(status.to_bytes(8, signed=True))


def become(words: list[str], cwd: str, environment: Mapping[str, str], streams: Sequence[int]) -> NoReturn:
    """Run the command in this process, and end it as Python does."""
    from cli.main import main

    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[:] = words
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))

"""The cold spawner: it starts every worker from scratch and without a jail, on platforms without fork."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

from grader.core.machine import Tier
from grader.course.module import Backend
from grader.sandbox.jail.limits import MEMORY_BYTES
from grader.sandbox.jail.spawner import START_SECONDS, Closing, Exit, Process, kill_all, python_command
from grader.sandbox.jail.view import clean_environment


class ColdSpawner(Closing):
    """Starts every worker from scratch: slow, but it needs neither fork nor the passing of descriptors."""

    tier: Tier = "none"
    memory = MEMORY_BYTES

    def __init__(self, backend: Backend) -> None:
        self.backend: Backend = backend
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def spawn(self) -> Process:
        ours, theirs = socket.socketpair()
        shared = sys.platform == "win32"
        address = "share" if shared else str(theirs.fileno())
        with theirs:
            process = subprocess.Popen(
                python_command("grader.sandbox.worker.worker", self.backend, address),
                pass_fds=[] if shared else [theirs.fileno()],
                start_new_session=not shared,  # so that its child processes can be killed with it
                env=clean_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            assert process.stdin is not None
            if sys.platform == "win32":
                process.stdin.write(theirs.share(process.pid))
            process.stdin.close()
        self._running[process.pid] = process
        return Process(
            process.pid,
            ours,
            kill=lambda: kill_all(process),
            wait=lambda seconds: self._wait(process, seconds),
            dismiss=lambda: self._dismiss(process),
            ask_where=lambda: None if shared else process.send_signal(signal.SIGUSR1),
        )

    def again(self) -> ColdSpawner:
        return ColdSpawner(self.backend)

    def _dismiss(self, process: subprocess.Popen[bytes]) -> None:
        kill_all(process)
        self._wait(process, START_SECONDS)

    def _wait(self, process: subprocess.Popen[bytes], seconds: float) -> Exit | None:
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._running.pop(process.pid, None)
        return Exit(code)

    def close(self) -> None:
        for process in list(self._running.values()):
            kill_all(process)
            self._wait(process, START_SECONDS)

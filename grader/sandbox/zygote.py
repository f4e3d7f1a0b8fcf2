"""The zygote: a warm process that forks a worker for each submission and reports how each one ended.

It never reads a byte of a submission. Control messages are words padded to one fixed size: `spawn` arrives
with the worker's end of its channel and is answered with the child's pid; `kill PID` ends a child; when a
child ends, `PID EXITCODE CPU_SECONDS` goes back. When the control socket closes, every child is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import selectors
import signal
import socket
import sys

MESSAGE_BYTES = 64
CHANNEL = 3  # the descriptor a worker speaks on, and its only one besides the standard streams
MAX_DESCRIPTORS = 1024
PR_SET_PDEATHSIG = 1


def pack(*words: object) -> bytes:
    """Return a control message of the one size there is, so that a stream needs no framing."""
    return " ".join(map(str, words)).encode().ljust(MESSAGE_BYTES)


def main() -> None:
    """Serve the control socket whose file descriptor is the second argument."""
    backend, fd = sys.argv[1], int(sys.argv[2])
    warm_up(backend)
    control = socket.socket(fileno=fd)
    _Zygote(control, tensors=backend == "torch").run()


def warm_up(backend: str) -> None:
    """Import, once, what every worker would import: NumPy loads its random module only when first used."""
    from grader.sandbox.worker import seed_everything

    if backend == "torch":
        import torch

        torch.set_num_threads(1)
    seed_everything(0)
    gc.collect()
    gc.freeze()  # a collection in a worker would touch, and so copy, every page of these modules


class _Zygote:
    def __init__(self, control: socket.socket, *, tensors: bool) -> None:
        self.control = control
        self.tensors = tensors
        self.children: set[int] = set()
        self.null = os.open(os.devnull, os.O_RDWR)
        self.pid = os.getpid()

    def run(self) -> None:
        """Serve until the control socket closes, then take every child along."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the trusted side to handle
        wake, woken = socket.socketpair()
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        wake.setblocking(False)
        selector = selectors.DefaultSelector()
        selector.register(self.control, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        try:
            while True:
                for key, _ in selector.select():
                    if key.fileobj is wake:
                        wake.recv(4096)
                        self.reap()
                    elif not self.obey():
                        return
        finally:
            for pid in self.children:
                _end(pid)

    def obey(self) -> bool:
        """Carry out one control message; False when the trusted side is gone."""
        try:
            message, fds, _, _ = socket.recv_fds(self.control, MESSAGE_BYTES, 1)
        except OSError:
            return False
        if not message:
            return False
        match message.decode().split():
            case ["spawn"]:
                self.spawn(fds[0])
            case ["kill", pid] if int(pid) in self.children:
                # Only this process reaps, so a pid still in the set cannot have been given to another.
                _end(int(pid))
        return True

    def spawn(self, rpc: int) -> None:
        if threads() != 1:  # a lock held by another thread would stay locked in the child for ever
            raise RuntimeError(f"the zygote has {threads()} threads; it may fork with one only")
        pid = os.fork()
        if pid == 0:
            self.become_worker(rpc)
        os.close(rpc)
        self.children.add(pid)
        self.control.send(pack(pid))

    def become_worker(self, rpc: int) -> None:
        """In the child: serve one submission and leave without unwinding the zygote's stack."""
        code = 1
        try:
            die_with(self.pid)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            for standard in range(3):
                os.dup2(self.null, standard)
            os.dup2(rpc, CHANNEL)
            os.closerange(CHANNEL + 1, MAX_DESCRIPTORS)  # the control socket above all
            from grader.sandbox.worker import serve

            serve(socket.socket(fileno=CHANNEL), tensors=self.tensors)
            code = 0
        finally:
            os._exit(code)

    def reap(self) -> None:
        """Report every child that has ended, and take along what it left running."""
        for pid in list(self.children):
            # Looked at before it is waited for: a zombie still holds its group's number, so the group is its own.
            if not _has_ended(pid):
                continue
            _end(pid)
            _, status, usage = os.wait4(pid, 0)
            self.children.discard(pid)
            with contextlib.suppress(OSError):
                cpu = usage.ru_utime + usage.ru_stime
                self.control.send(pack(pid, os.waitstatus_to_exitcode(status), f"{cpu:.6f}"))


def _has_ended(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _end(pid: int) -> None:
    """Kill a worker and its process group; the group does not exist until the child's first lines ran."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of zombies
            kill(pid, signal.SIGKILL)


def threads() -> int:
    """Return how many threads this process has, those of libraries included."""
    import psutil

    return int(psutil.Process().num_threads())


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, however it dies (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)


if __name__ == "__main__":
    main()

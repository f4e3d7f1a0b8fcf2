"""The zygote: a warm process that forks a jailed worker for each submission and reports how each one ended.

It never reads a byte of a submission. Control messages are words padded to one fixed size. It says `ready` once a
trial has shown that its jail holds; `spawn` arrives with the worker's end of its channel and is answered with the
child's pid here and, where that is another elsewhere, a descriptor that names it; `kill PID` ends a child; when a
child ends, `PID EXITCODE CPU_SECONDS ADDED_BYTES` goes back, the last being its memory beyond the zygote's own.
When the control socket closes, every child is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from grader.sandbox.jail.plan import Plan, plan_of
from grader.sandbox.worker.warm_up import warm_up

MESSAGE_BYTES = 64
CHANNEL = 3  # the descriptor a worker speaks on, and its only one besides the standard streams
MAX_DESCRIPTORS = 256
OUT_OF_MEMORY = 12  # the exit status of a worker that could not even say so
LINUX = sys.platform == "linux"
MAXRSS_BYTES = 1024 if LINUX else 1  # what the kernel counts memory in


def pack(*words: object) -> bytes:
    """Return a control message of the one size there is, so that a stream needs no framing."""
    return " ".join(map(str, words)).encode().ljust(MESSAGE_BYTES)


def main() -> None:
    """Serve the control socket whose file descriptor is the argument, by the plan on the standard input."""
    inherited = int(sys.argv[1])
    control = os.dup(inherited)  # the lowest number there is: a worker closes all up to MAX_DESCRIPTORS
    os.close(inherited)
    zygote = _Zygote(socket.socket(fileno=control), plan_of(json.load(sys.stdin)))
    zygote.settle()
    if zygote.plan.devices:  # whether the GPU can be reached from the jail, only torch can tell
        warm_up(zygote.plan.backend, gpu=True)
    zygote.try_the_jail()
    zygote.control.send(pack("ready"))
    if not zygote.plan.devices:
        warm_up(zygote.plan.backend, meters=zygote.plan.meters)
    zygote.run()


class _Zygote:
    def __init__(self, control: socket.socket, plan: Plan) -> None:
        self.control = control
        self.plan = plan
        self.children: set[int] = set()
        self.pid_namespace: int | None = None
        self.enter: Callable[[], None] = self.stay
        self.resident = 0

    def settle(self) -> None:
        """Become the user and enter the namespaces that workers are made from."""
        if not self.plan.layers:
            return
        from grader.sandbox.jail import kernel
        from grader.sandbox.jail import layers as jail

        os.chdir("/")
        # Where memory runs out, workers go first, and this before the grader. Another user could not set it any more.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        if self.plan.uid is not None:
            jail.become(self.plan.uid)
        if self.plan.has("namespaces"):
            # Its own user namespace owns its own pid namespace, so that it may come back to it after each fork.
            jail.enter_user_namespace(kernel.CLONE_NEWPID)
        kernel.die_with_parent()  # again: each change of credentials undoes it
        if self.plan.has("namespaces"):
            _go_on_in_a_child()
            self.pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def try_the_jail(self) -> None:
        """Have a child enter the jail and try to get out, before anything is promised."""
        if not self.plan.layers and not self.plan.devices:
            return
        from grader.sandbox.jail.layers import Jail

        jail = Jail(self.plan)
        ours, theirs = os.pipe()
        pid = self.fork()
        if pid == 0:
            words = b""
            try:
                jail.enter()
                self.open_gpu()
                jail.prove()
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is why this tier cannot be had
                words = f"error: {str(error) or type(error).__name__}".encode()
            os.write(theirs, words or b"ok")
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours, "rb") as answer:
            words = answer.read()
        os.waitpid(pid, 0)
        if words != b"ok":
            sys.exit(words.decode(errors="replace") or "the trial worker ended without a word")

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
        if self.plan.layers:
            from grader.sandbox.jail.layers import Jail

            self.enter = Jail(self.plan).enter  # made now: its limits are counted from what the imports took
        self.resident = _peak_bytes()
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
        parent = os.getpid()
        pid = self.fork()
        if pid == 0:
            self.become_worker(rpc, parent)
        os.close(rpc)
        self.children.add(pid)
        if not self.plan.has("view") and self.pid_namespace is None:
            self.control.send(pack(pid))  # the trusted side knows it by the same number
            return
        descriptor = os.pidfd_open(pid)
        socket.send_fds(self.control, [pack(pid)], [descriptor])
        os.close(descriptor)

    def fork(self) -> int:
        """Fork; the child is the first process of its own pid namespace, where there are namespaces."""
        if self.pid_namespace is None:
            return os.fork()
        from grader.sandbox.jail import kernel

        kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid != 0:
            kernel.setns(self.pid_namespace, kernel.CLONE_NEWPID)
        return pid

    def become_worker(self, rpc: int, parent: int) -> None:
        """In the child: serve one submission and leave without unwinding the zygote's stack."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)  # its own: a shared one would carry flags and locks to the next
            for standard in range(3):
                os.dup2(null, standard)
            os.dup2(rpc, CHANNEL)
            os.closerange(CHANNEL + 1, MAX_DESCRIPTORS)  # the control socket above all
            self.enter()
            self.open_gpu()
            if self.pid_namespace is None and os.getppid() != parent:  # it died before we asked to die with it
                os._exit(1)
            from grader.sandbox.worker.worker import serve

            serve(socket.socket(fileno=CHANNEL), tensors=self.plan.backend == "torch")
            code = 0
        except MemoryError:
            code = OUT_OF_MEMORY
        finally:
            os._exit(code)

    def open_gpu(self) -> None:
        """In the child, if it is to have one: this process must never touch a GPU, or no child could."""
        if self.plan.devices:
            from grader.sandbox.worker.gpu.real import open_gpu

            open_gpu()

    def stay(self) -> None:
        """Enter no jail."""
        if LINUX:
            from grader.sandbox.jail.kernel import die_with_parent

            die_with_parent()

    def reap(self) -> None:
        """Report every child that has ended, and take along what it left running."""
        for pid in list(self.children):
            # Looked at before it is waited for: a zombie still holds its group's number, so the group is its own.
            if not _has_ended(pid):
                continue
            _end(pid)
            _, status, usage = os.wait4(pid, 0)
            self.children.discard(pid)
            cpu = usage.ru_utime + usage.ru_stime
            added = max(0, usage.ru_maxrss * MAXRSS_BYTES - self.resident)
            with contextlib.suppress(OSError):
                self.control.send(pack(pid, os.waitstatus_to_exitcode(status), f"{cpu:.6f}", added))


def _go_on_in_a_child() -> None:
    """Return in a child, the first process of a new pid namespace; this process only waits for it."""
    pid = os.fork()
    if pid == 0:
        return
    os.closerange(CHANNEL, MAX_DESCRIPTORS)  # or the control socket would outlive the child
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _peak_bytes() -> int:
    import resource  # Windows has none, and imports this file for its constants

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_BYTES


def _has_ended(pid: int) -> bool:
    if LINUX:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
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
    if LINUX:
        return sum(1 for _ in os.scandir("/proc/self/task"))
    import psutil

    return int(psutil.Process().num_threads())


if __name__ == "__main__":
    main()

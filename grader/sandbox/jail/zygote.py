"""The zygote: a warm process that forks jailed workers and reports how each one ended.

It never reads a submission. Control messages are words, padded to a fixed size:
- The zygote sends `ready` after a trial has shown that its jail holds.
- `spawn` comes with the worker's end of a channel. The answer is the child's pid as the zygote sees it. If other
  processes see another pid, a pidfd comes with the answer.
- `kill PID` ends a child. `where PID` makes it write into its channel which line it is in.
- `copy` comes with one end of another control socket. A copy of the zygote serves it, and sends `ready` there. With a
  number, the copy and its workers stay on that core.
- On Linux, the first byte on a worker's channel comes with files that tell its memory, see `MemoryPeak`.
- When a child ends, the zygote sends `PID EXITCODE CPU_SECONDS ADDED_BYTES`. The last is its memory in addition to the
  zygote's own.
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
from pathlib import Path
from typing import TYPE_CHECKING

from grader.sandbox.jail.limits import MemoryPeak
from grader.sandbox.jail.plan import JailPlan, plan_of
from grader.sandbox.worker.warm_up import warm_up

if TYPE_CHECKING:  # Windows does not have what it needs, and imports this file for its constants
    from grader.sandbox.jail.layers import Jail

MESSAGE_BYTES = 64
CHANNEL = 3  # the descriptor of a worker's channel, its only one besides the standard streams
MAX_DESCRIPTORS = 256
OUT_OF_MEMORY = 12  # the exit status of a worker without enough memory to report it
LINUX = sys.platform == "linux"
MAXRSS_BYTES = 1024 if LINUX else 1  # the unit of ru_maxrss


def pack(*words: object) -> bytes:
    """Return a control message of fixed size, so that the stream needs no framing."""
    return " ".join(map(str, words)).encode().ljust(MESSAGE_BYTES)


def main() -> None:
    """Serve the control socket whose descriptor is the argument. The plan comes on standard input."""
    inherited = int(sys.argv[1])
    control = os.dup(inherited)  # as a low number: a worker closes all descriptors up to MAX_DESCRIPTORS
    os.close(inherited)
    zygote = _Zygote(socket.socket(fileno=control), plan_of(json.load(sys.stdin)))
    zygote.settle()
    if zygote.plan.devices:  # only torch can tell whether the jail lets it reach the GPU
        zygote.warm_up(gpu=True)
    zygote.try_the_jail()
    zygote.control.send(pack("ready"))
    if not zygote.plan.devices:
        zygote.warm_up(meters=zygote.plan.meters)
    zygote.run()


class _Zygote:
    def __init__(self, control: socket.socket, plan: JailPlan) -> None:
        self.control = control
        self.plan = plan
        self.children: set[int] = set()
        self.copies: set[int] = set()
        self.pid_namespace: int | None = None
        self.jail: Jail | None = None
        self.resident = 0

    def settle(self) -> None:
        """Change the user and enter the namespaces, as workers need them."""
        if not self.plan.layers:
            return
        from grader.sandbox.jail import kernel
        from grader.sandbox.jail import layers as jail

        os.chdir("/")
        # If memory runs out, workers are killed first, then the zygote, then the grader. The next user cannot set it.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        if self.plan.uid is not None:
            jail.become(self.plan.uid)
        if self.plan.has("namespaces"):
            # Its user namespace owns its pid namespace, so that it can return to it after each fork.
            jail.enter_user_namespace(kernel.CLONE_NEWPID)
        kernel.die_with_parent()  # again, because each change of credentials undoes it
        if self.plan.has("namespaces"):
            _continue_in_a_child()
            self.pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def warm_up(self, *, meters: bool = True, gpu: bool = False) -> None:
        """Import what workers need, once, and rehearse. Each worker would otherwise read these files in its jail."""
        import grader.sandbox.worker.worker  # noqa: F401

        warm_up(self.plan.backend, meters=meters, gpu=gpu)
        if not gpu:
            from grader.sandbox.worker.rehearsal import rehearse

            tensors = self.plan.backend == "torch"
            rehearse(tensors=tensors, gradients=tensors and not gradients_start_threads(), meters=meters)

    def try_the_jail(self) -> None:
        """Let a child enter the jail and try to break out, before we say that we are ready."""
        if not self.plan.layers and not self.plan.devices:
            return
        from grader.sandbox.jail.layers import Jail

        self.jail = jail = Jail(self.plan, MAX_DESCRIPTORS)
        ours, theirs = os.pipe()
        pid = self._fork()
        if pid == 0:
            problem = b""
            try:
                jail.enter()
                self._open_gpu()
                jail.prove()
            except BaseException as error:  # noqa: BLE001 - any error means that this tier does not work
                problem = f"error: {str(error) or type(error).__name__}".encode()
            os.write(theirs, problem or b"ok")
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours, "rb") as answer:
            result = answer.read()
        os.waitpid(pid, 0)
        if result != b"ok":
            sys.exit(result.decode(errors="replace") or "the trial worker ended without a message")

    def run(self) -> None:
        """Serve until the control socket closes, then kill every child."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trusted side handles Ctrl-C
        wake, woken = socket.socketpair()
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        wake.setblocking(False)
        selector = selectors.DefaultSelector()
        selector.register(self.control, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        if self.jail is not None:
            self.jail.limit_memory()  # after the imports, because it starts from the memory in use
        self.resident = _peak_bytes()
        try:
            while True:
                for key, _ in selector.select():
                    if key.fileobj is wake:
                        wake.recv(4096)
                        self._reap()
                    elif not self._obey():
                        return
        finally:
            for pid in self.children:
                _end(pid)

    def _obey(self) -> bool:
        """Carry out one control message. Return False when the trusted side is gone."""
        try:
            message, fds, _, _ = socket.recv_fds(self.control, MESSAGE_BYTES, 1)
        except OSError:
            return False
        if not message:
            return False
        match message.decode().split():
            case ["spawn"]:
                self._spawn(fds[0])
            case ["copy", *core]:
                self._copy(fds[0], *map(int, core))
            case ["kill", pid] if int(pid) in self.children:
                # Only this process reaps children, so a pid in the set cannot belong to another process.
                _end(int(pid))
            case ["where", pid] if int(pid) in self.children:
                os.kill(int(pid), signal.SIGUSR1)
        return True

    def _spawn(self, rpc: int) -> None:
        _require_one_thread()
        parent = os.getpid()
        pid = self._fork()
        if pid == 0:
            self._become_worker(rpc, parent)
        os.close(rpc)
        self.children.add(pid)
        if not self.plan.has("view") and self.pid_namespace is None:
            self.control.send(pack(pid))  # the trusted side sees the same pid
            return
        descriptor = os.pidfd_open(pid)
        socket.send_fds(self.control, [pack(pid)], [descriptor])
        os.close(descriptor)

    def _copy(self, control: int, core: int | None = None) -> None:
        """Fork a zygote like this one for another control socket. What is imported already is there at once."""
        _require_one_thread()
        pid = os.fork()
        if pid != 0:
            os.close(control)
            self.copies.add(pid)
            return
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            self._stay()
            if core is not None:
                from grader.sandbox.jail.kernel import stay_on

                stay_on(core)
            self.control.close()
            self.control = socket.socket(fileno=control)
            self.children, self.copies = set(), set()
            self.control.send(pack("ready"))
            with contextlib.suppress(OSError):  # the trusted side may be gone after an order
                self.run()
            signal.set_wakeup_fd(-1)
            for child in self.children:  # they are killed; without this, they would stay as zombies
                os.waitpid(child, 0)
            code = 0
        finally:
            os._exit(code)

    def _fork(self) -> int:
        """Fork. With namespaces, the child is the first process of its own pid namespace."""
        if self.pid_namespace is None:
            return os.fork()
        from grader.sandbox.jail import kernel

        kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid != 0:
            kernel.setns(self.pid_namespace, kernel.CLONE_NEWPID)
        return pid

    def _become_worker(self, rpc: int, parent: int) -> None:
        """In the child: serve one submission, then exit without unwinding the zygote's stack."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)  # not shared: flags and locks would stay for the next worker
            for standard in range(3):
                os.dup2(null, standard)
            os.dup2(rpc, CHANNEL)
            os.closerange(CHANNEL + 1, MAX_DESCRIPTORS)  # most importantly the control socket
            channel = socket.socket(fileno=CHANNEL)
            if LINUX:
                _send_memory_files(channel)
            if self.plan.layers and self.jail is not None:
                self.jail.enter()
            else:
                self._stay()
            self._open_gpu()
            if self.pid_namespace is None and os.getppid() != parent:  # the zygote died before die_with_parent
                os._exit(1)
            from grader.sandbox.worker.worker import serve

            serve(channel, tensors=self.plan.backend == "torch")
            code = 0
        except MemoryError:
            code = OUT_OF_MEMORY
        finally:
            os._exit(code)

    def _open_gpu(self) -> None:
        """In the child: open the GPU, if the plan has one. If the zygote did this, no child could use the GPU."""
        if self.plan.devices:
            from grader.sandbox.worker.gpu.real import open_gpu

            open_gpu()

    def _stay(self) -> None:
        """End with the process that forked this one, and stay outside any jail."""
        if LINUX:
            from grader.sandbox.jail.kernel import die_with_parent

            die_with_parent()

    def _reap(self) -> None:
        """Report every child that has ended, and kill the processes that it left."""
        for pid in list(self.children):
            # Check before waiting: as long as it is a zombie, no other process group can have its number.
            if not _has_ended(pid):
                continue
            _end(pid)
            _, status, usage = os.wait4(pid, 0)
            self.children.discard(pid)
            cpu = usage.ru_utime + usage.ru_stime
            added = max(0, usage.ru_maxrss * MAXRSS_BYTES - self.resident)
            with contextlib.suppress(OSError):
                self.control.send(pack(pid, os.waitstatus_to_exitcode(status), f"{cpu:.6f}", added))
        self.copies -= {pid for pid in self.copies if os.waitpid(pid, os.WNOHANG) != (0, 0)}


def _continue_in_a_child() -> None:
    """Return in a child, which is the first process of a new pid namespace. This process only waits for it."""
    pid = os.fork()
    if pid == 0:
        return
    os.closerange(CHANNEL, MAX_DESCRIPTORS)  # or the control socket would stay open after the child ends
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _send_memory_files(channel: socket.socket) -> None:
    """Send the files that tell this process's memory, while it may open them, and keep none of them."""
    files = MemoryPeak.own_files()
    socket.send_fds(channel, [b"\0"], files)
    for one in files:
        os.close(one)


def _peak_bytes() -> int:
    import resource  # not at the top: Windows does not have it, and imports this file for its constants

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_BYTES


def _has_ended(pid: int) -> bool:
    if LINUX:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _require_one_thread() -> None:
    """Fail if there are more: a lock that another thread holds would stay locked in a child forever."""
    if threads() != 1:
        raise RuntimeError(f"the zygote has {threads()} threads, but it can fork only with one")


def _end(pid: int) -> None:
    """Kill a worker and its process group. The group does not exist until the child has called setsid."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS raises PermissionError for zombies
            kill(pid, signal.SIGKILL)


def gradients_start_threads() -> bool:
    """Return whether a backward pass starts a thread. It does if torch asks CUDA's driver for the GPUs of this machine.

    A child tries it: a zygote with a second thread could not fork any more.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            import torch

            x = torch.ones(1, requires_grad=True)
            torch.autograd.grad(x.sum(), x)
            code = int(threads() > 1)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0


def threads() -> int:
    """Return the number of threads of this process, including those of libraries."""
    if LINUX:
        return sum(1 for _ in os.scandir("/proc/self/task"))
    import psutil

    return int(psutil.Process().num_threads())


if __name__ == "__main__":
    main()

"""The jail: layers of protection that a worker puts up before it reads a submission.

Tests can leave out each layer by name, to show what it is for.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from grader.sandbox.jail import kernel, landlock, seccomp
from grader.sandbox.jail.limits import CPU_SECONDS, GPU_HOST_BYTES
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.view import BOX

BOX_BYTES = 16 << 20
THREADS = 32
FIRST = 1  # the pid of a worker in its own namespace
_FILE_BYTES = 8 << 20
_DESCRIPTORS = 64
_GPU_DESCRIPTORS = 256
_OWN_THREADS = "/proc/self/task"  # the GPU driver's library names its threads here, and gives up if it cannot


class BreachError(Exception):
    """The jail is up but does not hold, or it blocks what a worker needs."""


def become(uid: int) -> None:
    """Change from root to a user who owns nothing."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def enter_user_namespace(others: int) -> None:
    """Enter a new user namespace as the same user, and other new namespaces that it owns."""
    kernel.set_dumpable(dumpable=True)  # or root would own the maps
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | others)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")
    (own / "uid_map").write_text(f"{uid} {uid} 1")
    (own / "gid_map").write_text(f"{gid} {gid} 1")


class Jail:
    """The layers of a plan. The zygote prepares them, and each of its children puts them up."""

    def __init__(self, plan: JailPlan, first: int) -> None:
        """Prepare the layers. Files that stay open for workers have descriptors from `first` on."""
        self.plan = plan
        rules = [(path, landlock.READ) for path in plan.readable]
        rules += [(path, landlock.READ_DIR) for path in plan.listable]
        rules.append((os.devnull, landlock.READ_FILE | landlock.WRITE_FILE))
        self.rules = rules if plan.devices else []
        self.opened: landlock.OpenRules | None = None
        if plan.devices:  # with a GPU, some paths lead to another place in the worker's own /proc
            self.rules += [(path, landlock.USE_DEVICE) for path in plan.devices]
            self.rules.append((_OWN_THREADS, landlock.READ | landlock.WRITE_FILE | landlock.TRUNCATE))
        elif plan.has("landlock"):
            self.opened = landlock.open_rules(rules, first)
        self.rules += [(BOX, landlock.WRITE)] if self.plan.has("namespaces") else []
        self.filter = self.filter_for(FIRST)
        self.limits = {
            resource.RLIMIT_NPROC: THREADS,
            resource.RLIMIT_CPU: CPU_SECONDS,
            resource.RLIMIT_FSIZE: _FILE_BYTES,
            resource.RLIMIT_NOFILE: _DESCRIPTORS,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_MEMLOCK: 0,
        }
        self.limit_memory()

    def limit_memory(self) -> None:
        """Set the limit of memory from what this process has now. Call it again when everything is imported."""
        if self.plan.devices:  # a GPU reserves terabytes of addresses, so count only writable memory
            self.limits |= {resource.RLIMIT_DATA: _data() + GPU_HOST_BYTES, resource.RLIMIT_NOFILE: _GPU_DESCRIPTORS}
        else:
            self.limits[resource.RLIMIT_AS] = _address_space() + self.plan.memory

    def filter_for(self, pid: int) -> bytes:
        """Return the system call filter for a worker with this pid."""
        return seccomp.build(pid, threads=self.plan.may_thread, gpu=bool(self.plan.devices))

    def enter(self) -> None:
        """Put up every layer. The order matters: each layer takes away rights that earlier ones need."""
        if self.plan.has("namespaces"):
            private = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
            if self.plan.devices:  # the GPU driver's library reads it; it shows only this process
                kernel.unshare(kernel.CLONE_NEWNS)  # now, while this process still has rights over its pid namespace
                kernel.mount_proc("/proc", private)
            enter_user_namespace(kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC)
            if self.plan.has("view"):  # the view contains the folder to mount on
                kernel.mount_tmpfs(BOX, private, f"size={BOX_BYTES},nr_inodes=1024,mode=700")
                os.chdir(BOX)
            if not self.plan.devices:
                kernel.mount_tmpfs("/proc", private | kernel.MS_RDONLY, "mode=555")
        if self.plan.has("capabilities"):
            kernel.drop_capabilities()
        if self.plan.has("limits"):
            # The kernel counts all threads of a user, including other programs, except in the user's own namespace.
            others = 0 if self.plan.has("namespaces") else _threads_of_this_user()
            for kind, most in (self.limits | {resource.RLIMIT_NPROC: THREADS + others}).items():
                _, hard = resource.getrlimit(kind)
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (most, most))
        kernel.no_new_privileges()
        if self.plan.has("landlock"):
            landlock.restrict(self.rules, self.opened)
        if self.plan.has("undumpable"):
            kernel.set_dumpable(dumpable=False)
        kernel.die_with_parent()  # after the last change of credentials, which would undo it
        if self.plan.has("seccomp"):
            own = os.getpid()
            seccomp.load(self.filter if own == FIRST else self.filter_for(own))

    def prove(self) -> None:
        """Raise BreachError unless Python can be read and the layers hold. The calling child must end afterwards."""
        # A module of the standard library, of the packages and of ours.
        for name in ("this", self.plan.backend, "grader.sandbox.worker.worker"):
            spec = importlib.util.find_spec(name)
            if spec is None or spec.origin is None or not os.access(spec.origin, os.R_OK):
                uid, prefix = os.getuid(), sys.base_prefix
                raise BreachError(f"user {uid} cannot read the module '{name}' of the Python in {prefix}")
            Path(spec.origin).read_bytes()
        attempts: dict[str, Callable[[], object]] = {}
        if self.plan.has("landlock"):
            attempts["a file that is not allowed could be read"] = Path(sys.executable).resolve().read_bytes
        if self.plan.has("seccomp"):
            attempts["a process could be started"] = _fork_and_leave
            family = socket.AF_INET if self.plan.devices else socket.AF_UNIX
            attempts["a socket could be opened"] = lambda: socket.socket(family)
        for breach, attempt in attempts.items():
            with contextlib.suppress(OSError):
                attempt()
                raise BreachError(breach)


def _fork_and_leave() -> None:
    if os.fork() == 0:
        os._exit(0)


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _data() -> int:
    """Return the size of this process's writable memory in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) << 10


def _threads_of_this_user() -> int:
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                count += len(list((folder / "task").iterdir()))
    return count

"""Linux kernel calls that Python has no function for. Nothing here makes a decision."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY = 2, 4, 8, 1

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522
_MAX_CAPABILITIES = 64  # more than the kernel has

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library. Raise OSError with its name if it fails."""
    result: int = getattr(_libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int = 0) -> int:
    """Set or read one property of this process."""
    unused = ctypes.c_ulong(0)
    return call("prctl", ctypes.c_int(option), ctypes.c_ulong(value), unused, unused, unused)


def unshare(flags: int) -> None:
    """Give this process its own namespaces. A pid namespace applies to its next child."""
    call("unshare", ctypes.c_int(flags))


def setns(descriptor: int, kind: int) -> None:
    """Return to a namespace that a descriptor refers to."""
    call("setns", ctypes.c_int(descriptor), ctypes.c_int(kind))


def mount_tmpfs(target: str, flags: int, options: str) -> None:
    """Mount an empty in-memory file system over a folder."""
    call("mount", b"tmpfs", os.fsencode(target), b"tmpfs", ctypes.c_ulong(flags), options.encode())


def mount_proc(target: str, flags: int) -> None:
    """Mount a /proc file system of this pid namespace over a folder."""
    call("mount", b"proc", os.fsencode(target), b"proc", ctypes.c_ulong(flags), None)


def set_dumpable(*, dumpable: bool) -> None:
    """Set whether other processes of the same user may inspect this one."""
    prctl(_PR_SET_DUMPABLE, int(dumpable))


def no_new_privileges() -> None:
    """Make sure that this process can never gain privileges, for example by a setuid program."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies. A later change of user or namespace undoes this."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def stay_on(core: int) -> None:
    """Keep this thread, and all that it starts, on one core. A core that it may not use changes nothing."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})


def drop_capabilities() -> None:
    """Give up every privilege, and every way to get one back."""
    for capability in range(_MAX_CAPABILITIES):
        try:
            prctl(_PR_CAPBSET_DROP, capability)
        except OSError:  # no privilege to drop, or past the last capability
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())

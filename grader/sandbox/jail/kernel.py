"""The few calls to the Linux kernel that Python has no function for. Nothing here decides anything."""

from __future__ import annotations

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
_MORE_CAPABILITIES_THAN_THERE_ARE = 64

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library; raise OSError, with its name in it, where it fails."""
    result: int = getattr(_libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int = 0) -> int:
    """Set or ask one property of this process."""
    unused = ctypes.c_ulong(0)
    return call("prctl", ctypes.c_int(option), ctypes.c_ulong(value), unused, unused, unused)


def unshare(flags: int) -> None:
    """Give this process namespaces of its own; that of pids is for its next child."""
    call("unshare", ctypes.c_int(flags))


def setns(descriptor: int, kind: int) -> None:
    """Go back to a namespace that a descriptor holds."""
    call("setns", ctypes.c_int(descriptor), ctypes.c_int(kind))


def mount_tmpfs(target: str, flags: int, options: str) -> None:
    """Cover a folder with an empty file system in memory."""
    call("mount", b"tmpfs", os.fsencode(target), b"tmpfs", ctypes.c_ulong(flags), options.encode())


def mount_proc(target: str, flags: int) -> None:
    """Cover a folder with what the kernel says of the processes of this namespace, and of itself."""
    call("mount", b"proc", os.fsencode(target), b"proc", ctypes.c_ulong(flags), None)


def set_dumpable(*, dumpable: bool) -> None:
    """Say whether others of the same user may look into this process."""
    prctl(_PR_SET_DUMPABLE, int(dumpable))


def no_new_privileges() -> None:
    """Never again gain a privilege, by running a setuid program for one."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies. A later change of user or namespace undoes it."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def drop_capabilities() -> None:
    """Give up every privilege, and the ways to get one back."""
    for capability in range(_MORE_CAPABILITIES_THAN_THERE_ARE):
        try:
            prctl(_PR_CAPBSET_DROP, capability)
        except OSError:  # without privileges there is nothing to drop; past the last one it says EINVAL
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())

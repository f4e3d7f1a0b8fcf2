"""Landlock: the kernel's list of what a process may open. Nothing else can be opened.

There is no well-kept Python library for it. It is three system calls, with the same numbers on every machine.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from grader.sandbox.jail import kernel

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_DIR, MAKE_REG = 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
READ = READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
USE_DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
_OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

# The number of file rights that each version can refuse. Later versions add TCP rights, signals and abstract sockets.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_RIGHTS = 0b11
_SCOPES = 0b11

PathRule = tuple[str, int]


def version() -> int:
    """Return the version of Landlock; OSError if the kernel has none."""
    return kernel.call("syscall", ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))


@dataclass(frozen=True)
class OpenRules:
    """Rules whose paths are open. A zygote opens them once: hundreds of them would cost each worker milliseconds."""

    attributes: tuple[bytes, ...]
    descriptors: tuple[int, ...]
    left: tuple[PathRule, ...]  # these could not be opened here

    def close(self) -> None:
        """Close the descriptors. A worker does this before it reads a submission."""
        if self.descriptors:
            os.closerange(min(self.descriptors), max(self.descriptors) + 1)


def open_rules(rules: Iterable[PathRule], first: int) -> OpenRules:
    """Open the paths of rules, with descriptors from `first` on."""
    handled = _handled(version())
    attributes: list[bytes] = []
    descriptors: list[int] = []
    left: list[PathRule] = []
    for path, rights in rules:
        beneath = _opened(path)
        if beneath is None:
            continue
        try:
            descriptors.append(fcntl.fcntl(beneath, fcntl.F_DUPFD_CLOEXEC, first))
            attributes.append(_attribute(descriptors[-1], rights & handled))
        except OSError:  # this machine allows few open files
            left.append((path, rights))
        finally:
            os.close(beneath)
    return OpenRules(tuple(attributes), tuple(descriptors), tuple(left))


def restrict(rules: Iterable[PathRule], opened: OpenRules | None = None) -> None:
    """Allow this process only what the rules say below each path, from now on. Close those that are open."""
    abi = version()
    handled = _handled(abi)
    attributes = struct.pack("=QQQ", handled, _NET_RIGHTS, _SCOPES)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    ruleset = kernel.call(
        "syscall", ctypes.c_long(_CREATE), attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    try:
        if opened is not None:
            _add(ruleset, opened.attributes)
            opened.close()
        for path, rights in (*rules, *(opened.left if opened else ())):
            if (beneath := _opened(path)) is not None:
                try:
                    _add(ruleset, [_attribute(beneath, rights & handled)])
                finally:
                    os.close(beneath)
        kernel.call("syscall", ctypes.c_long(_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _handled(abi: int) -> int:
    """Return the file rights that this version of Landlock can refuse."""
    return (1 << _FILE_RIGHTS.get(abi, 16)) - 1


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return None  # a missing file cannot be opened anyway


def _attribute(beneath: int, rights: int) -> bytes:
    if not stat.S_ISDIR(os.fstat(beneath).st_mode):
        rights &= _OF_FILES
    return struct.pack("=Qi", rights, beneath)


def _add(ruleset: int, attributes: Iterable[bytes]) -> None:
    number, where = ctypes.c_long(_ADD_RULE), ctypes.c_int(ruleset)
    kind, flags = ctypes.c_int(_PATH_BENEATH), ctypes.c_uint32(0)
    for attribute in attributes:
        kernel.call("syscall", number, where, kind, attribute, flags)

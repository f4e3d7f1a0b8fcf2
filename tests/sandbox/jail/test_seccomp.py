"""The system call filter, run instruction by instruction: its verdict on a call, with and without a GPU."""

from __future__ import annotations

import errno
import os
import socket
import struct
from typing import Any

import pytest

from grader.sandbox.jail import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOTTY = (0x00050000 | number for number in (errno.EPERM, errno.ENOTTY))
SHARED, PRIVATE, ANONYMOUS = 0x01, 0x02, 0x20
OWN = 7


def verdict(program: bytes, name: str, *arguments: int) -> int:
    """Return what the filter does with a call. It uses five of the kernel's instructions."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", seccomp.numbers()[name], seccomp.architecture(), 0, *words)
    steps = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += if_true if value == operand else if_false
            case 0x35:
                at += if_true if value >= operand else if_false
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


CALLS: dict[tuple[Any, ...], tuple[int, int]] = {
    # call: (verdict without a GPU, verdict with a GPU)
    ("read",): (ALLOW, ALLOW),
    ("socket", socket.AF_UNIX): (EPERM, ALLOW),
    ("socket", socket.AF_INET): (EPERM, EPERM),
    ("socket", socket.AF_NETLINK): (EPERM, EPERM),
    ("bind",): (EPERM, ALLOW),
    ("listen",): (EPERM, ALLOW),
    ("mmap", 0, 0, 0, SHARED | ANONYMOUS): (EPERM, ALLOW),
    ("mmap", 0, 0, 0, PRIVATE | ANONYMOUS): (ALLOW, ALLOW),
    ("mmap", 0, 0, 0, SHARED): (ALLOW, ALLOW),
    ("ioctl", 3, 0xC0204600): (ENOTTY, ALLOW),  # the driver's letter
    ("ioctl", 3, 0x30000001): (ENOTTY, ALLOW),  # its memory manager
    ("ioctl", 3, 75): (ENOTTY, ALLOW),
    ("ioctl", 3, 0x5401): (ALLOW, ALLOW),  # TCGETS
    ("ioctl", 3, 0x5412): (ENOTTY, ENOTTY),  # TIOCSTI: typing into a terminal
    ("ioctl", 3, 0x8933): (ENOTTY, ENOTTY),  # SIOCGIFINDEX
    ("ptrace",): (KILL, KILL),
    ("unshare",): (KILL, KILL),
    ("kill", OWN, 15): (ALLOW, ALLOW),
    ("kill", OWN, 9): (KILL, KILL),
    ("kill", 1, 15): (KILL, KILL),
    ("clone", 17): (EPERM, EPERM),
    ("openat", 0, 0, os.O_RDONLY): (ALLOW, ALLOW),
    ("openat", 0, 0, os.O_RDONLY | os.O_TRUNC): (EPERM, EPERM),
}


@pytest.mark.parametrize("gpu", [False, True])
def test_gpu_allows_only_the_calls_its_driver_needs(gpu: bool) -> None:
    program = seccomp.build(OWN, threads=True, gpu=gpu)
    found = {call: verdict(program, *call) for call in CALLS}
    assert found == {call: verdicts[gpu] for call, verdicts in CALLS.items()}


def test_gpu_allows_no_other_call() -> None:
    programs = [seccomp.build(OWN, threads=True, gpu=gpu) for gpu in (False, True)]
    different = {name for name in seccomp.numbers() if len({verdict(program, name) for program in programs}) > 1}
    assert different == {
        "bind",
        "listen",
        "ioctl",
    }  # with all arguments 0; for `socket` and `mmap`, see the cases above

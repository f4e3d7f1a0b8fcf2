# What every attack begins with. World's values are put in front of it: SECRETS, LOOT, PRECIOUS, PACKAGES, GRADER,
# ZYGOTE, SIBLING, TOKEN_ADDRESS, TOKEN_LENGTH, PORT, UNIX, ABSTRACT, NONCE, NR.
import ctypes
import os
import signal
import socket
import struct
import sys
import threading
import time

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def call(name, *arguments):
    """Make a system call by name: its result, or minus its error."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = LIBC.syscall(ctypes.c_long(NR[name]), *words)
    return result if result >= 0 else -ctypes.get_errno()


def claim(succeeded):
    """Say whether the attack reached what it wanted."""
    return "BREACH" if succeeded else "held"


def first(*attempts):
    """Return what the first attempt that does not fail returns."""
    errors = []
    for attempt in attempts:
        try:
            return attempt()
        except Exception as error:
            errors.append(repr(error))
    return "; ".join(errors)


def read(path):
    with open(path, "rb") as file:
        return file.read(1 << 20)


def ok(x):
    return x + 1

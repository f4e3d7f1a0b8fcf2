"""A warm process for `attn test`: it has imported torch, and answers for the modules that are slow to start.

The first `attn test` of a torch module runs as usual, and then starts a keeper (`cli.student.keeper`). The next ones
ask it. Whatever goes wrong here, the checks run as if there were no keeper.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import grader
from grader.course.course import Course
from grader.course.module import Module

VARIABLE = "ATTN_WARM"  # 1: always, 0: never; otherwise where a person sits at a terminal
ACCEPTED = b"accepted\n"
ACCEPT_SECONDS = 1.0  # if the keeper is busy or still importing, the command checks by itself
TELL_SECONDS = 0.2
LONGEST = 1 << 24  # bytes of a reply

NoAnswer = Literal["absent", "busy"]


@dataclass(frozen=True)
class Answer:
    """What a keeper has found: the screen and the report, both as `attn test` prints them."""

    screen: str
    report: dict[str, Any]
    notes: str  # for stderr


def is_wanted(module: Module) -> bool:
    """Whether a process may stay: torch makes it worth its memory, and a person at a terminal is told about it."""
    wish = os.environ.get(VARIABLE, "")
    if module.backend != "torch" or module.needs_gpu or not hasattr(socket, "AF_UNIX") or wish == "0":
        return False
    return wish == "1" or (sys.stdin.isatty() and sys.stdout.isatty())


def ask(
    course: Course, module: Module, *, everything: bool, busy: Callable[[str, float], None] = lambda *_: None
) -> Answer | NoAnswer:
    """Return the answer of the course's keeper. `busy` is called while it checks."""
    request = {"module": module.name, "stamp": stamp(module), "cwd": str(Path.cwd()), "everything": everything}
    address = address_of(course)
    if address is None:
        return "busy"
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.settimeout(ACCEPT_SECONDS)
            connection.connect(str(address))
            connection.sendall(json.dumps(request).encode() + b"\n")
            if connection.recv(len(ACCEPTED)) != ACCEPTED:
                return "absent"  # it was for other files, and has ended
            connection.settimeout(None)  # the checks have limits of their own
            started = time.monotonic()
            while not select.select([connection], [], [], TELL_SECONDS)[0]:
                busy("your code", time.monotonic() - started)
            with connection.makefile("rb") as stream:
                return Answer(**json.loads(stream.readline(LONGEST)))
        except TimeoutError:
            return "busy"
        except (OSError, ValueError, TypeError):
            return "absent"


def start(course: Course, module: Module) -> None:
    """Start a keeper for a module. It takes the place of the one before."""
    address = address_of(course)
    if address is None:
        return
    command = [sys.executable, "-P", "-m", "cli.student.keeper", course.root, module.name, address, stamp(module)]
    with contextlib.suppress(OSError):
        subprocess.Popen(
            list(map(str, command)),
            env=os.environ | {"PYTHONPATH": str(Path(grader.__file__).parent.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it outlives this command and its terminal
        )


def address_of(course: Course) -> Path | None:
    """Return the path of the keeper's socket, in a folder that only this user can enter; None if there is none.

    It is not in the course: the path of a socket has at most 107 bytes.
    """
    folder = Path(tempfile.gettempdir()) / f"attn-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        return None
    return folder / hashlib.sha256(os.fsencode(course.root)).hexdigest()[:24]


def stamp(module: Module) -> str:
    """Return a text that changes when the engine or a file of the module changes, but not with the student's own."""
    own = {module.stub, module.notebook}
    kept = [path for path in sorted(module.folder.iterdir()) if path not in own and path.is_file()]
    text = "\n".join([sys.prefix, sys.version, *_stamps(_engine()), *_stamps(kept)])
    return hashlib.sha256(text.encode()).hexdigest()


def _engine() -> Iterator[Path]:
    top = Path(grader.__file__).parent.parent
    for package in ("grader", "cli"):
        yield from sorted((top / package).rglob("*.py"))


def _stamps(paths: Iterator[Path] | list[Path]) -> Iterator[str]:
    for path in paths:
        found = path.stat()
        yield f"{path} {found.st_mtime_ns} {found.st_size}"

"""A course of another subject, made and released in an environment that has only the wheel."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

_FOREIGN = re.compile(r".*(?:attention|softmax|transformer|attnlab's (?:own )?course).*", re.IGNORECASE)
# What is the engine's own source, and no one's text: it knows PyTorch's operations by name.
_SOURCE = {".whl", ".zip", ".gz", ".wasm", ".js"}


def foreign_words(text: str) -> list[str]:
    """Return the lines of a text that are about the course on attention."""
    return [found.strip() for found in _FOREIGN.findall(text)]


def foreign_files(folder: Path) -> Iterator[str]:
    """Yield what in the files of a folder is about the course on attention."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in _SOURCE and not path.name.endswith(".db"):
            yield from (f"{path}: {line[:200]}" for line in foreign_words(path.read_text(errors="replace")))


class Author:
    """An author who types commands, and notes what they print about another course."""

    def __init__(self, run: Callable[..., Any], home: Path) -> None:
        self.run = run
        self.home = home
        self.foreign: list[str] = []

    def __call__(self, *words: object, status: int = 0, **where: Any) -> str:
        """Run a command and return what it prints."""
        done = self.run(*words, status=status, **{"cwd": self.home, **where})
        self.foreign += [f"{words}: {line}" for line in foreign_words(done.stdout + done.stderr)]
        return str(done.stdout + done.stderr)


def wheel_problems(path: Path) -> Iterator[str]:
    """Yield what is wrong with the record of a wheel."""
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    noted = dict(line.split(",", 1) for line in files.pop(record).decode().splitlines())
    assert noted.pop(record) == ","
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if noted.pop(name, "") != f"sha256={digest},{len(data)}":
            yield f"{name} is not as RECORD says"
    yield from (f"{name} is missing" for name in noted)


@contextlib.contextmanager
def lent_extras(packages: Path) -> Iterator[None]:
    """Let an environment find the extras that are installed here, as if it had them itself."""
    path, program = packages / "extras.pth", packages.parents[2] / "bin" / "alembic"  # nbgrader runs that one
    path.write_text(f"{Path(np.__file__).parent.parent}\n")  # behind its own packages: its attnlab stays the wheel's
    program.symlink_to(Path(sys.executable).with_name("alembic"))
    try:
        yield
    finally:
        path.unlink()
        program.unlink()


def hand_in(course: Path, module: str, to: Path) -> None:
    """Make a class of two: one right, one with a known mistake."""
    slug = module[3:]
    right = course / "solutions" / module / f"{slug}.py"
    for student, old, new in (("ana", "", ""), ("ben", "counts.get(word, 0) + 1", "1")):
        folder = to / student
        folder.mkdir(parents=True)
        text = right.read_text()
        assert old in text
        (folder / f"{slug}.py").write_text(text.replace(old, new) if old else text)


def all_helps() -> dict[str, str]:
    """Return the help of every command, as the course in the current folder has it."""
    from cli.main import attn

    return dict(_helps(attn, "attn"))


def _helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    with click.Context(command, info_name=name) as context:
        yield name, command.get_help(context)
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                if (found := command.get_command(context, below)) is not None:
                    yield from _helps(found, f"{name} {below}")

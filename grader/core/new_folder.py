"""A folder that is made completely or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

# What may be in a folder already: it is not ours, and it stays.
KEPT = frozenset(
    (".git", ".gitignore", ".gitattributes", ".venv", "venv", ".python-version", ".idea", ".DS_Store")
    + ("pyproject.toml", "uv.lock", "LICENSE")
)


class FolderError(Exception):
    """A folder that cannot be used, and why. Nothing has changed."""


def require_room(to: Path, command: str) -> None:
    """Raise a FolderError unless a folder is new, or has only what stays. `command` is how to name another one."""
    if to.exists() and not to.is_dir():
        raise FolderError(f"{to} is a file. Name a new folder: {command} DIR")
    if to.exists() and (other := sorted(path.name for path in to.iterdir() if path.name not in KEPT)):
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        raise FolderError(f"{to} is not empty: it has {shown}. Name a new folder: {command} DIR")


@contextlib.contextmanager
def new_folder(to: Path, last: str) -> Iterator[Path]:
    """Make a folder for the files of a new or empty one, and move them there at the end. What is there stays.

    `last` is the name that is moved last: without it, the folder is nothing yet.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    is_new = not to.exists()
    # In the folder itself if there is one: a shell may be in it, so that it cannot be replaced.
    with tempfile.TemporaryDirectory(dir=to.parent if is_new else to, prefix=".attn-new-") as temporary:
        made = Path(temporary).resolve() / "made"
        made.mkdir()
        yield made
        if is_new:
            made.rename(to)
        else:
            _move_in(made, to, last)


def _move_in(made: Path, to: Path, last: str) -> None:
    moved: list[Path] = []
    try:
        for path in sorted(made.iterdir(), key=lambda path: path.name == last):
            if not (to / path.name).exists():
                path.rename(to / path.name)
                moved.append(to / path.name)
    except BaseException:
        for path in moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise

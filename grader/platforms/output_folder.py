"""A new folder that is either whole or not there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.platforms.class_list import ExportError


@contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """Give a folder to fill, and put it in its place once that is done; ExportError if there is something already."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ExportError(f"{to} is there already; name a new folder, or remove it first")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".export-") as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        yield made
        if to.exists():
            to.rmdir()
        made.rename(to)

"""An output folder that is either complete or not there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.classroom.class_list import ExportError


@contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, then rename it to `to`; ExportError if something is already there."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ExportError(f"{to} already exists. Name a new folder, or remove it first")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".export-") as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        yield made
        if to.exists():
            to.rmdir()
        made.rename(to)

"""Atomic file writes: a file is complete or it does not exist."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str, *, secret: bool = False) -> None:
    """Write a text file in one step. Only the owner can read a secret file."""
    write_bytes_atomically(path, text.encode("utf-8"), secret=secret)


def write_bytes_atomically(path: Path, data: bytes, *, secret: bool = False) -> None:
    """Write a file in one step, so that no reader and no crash leaves half of it."""
    mode = 0o600 if secret else 0o644
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

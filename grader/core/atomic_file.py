"""Files: written in one step, so that each is complete or does not exist, under names that no student can choose."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, text: str, *, secret: bool = False, durable: bool = True) -> None:
    """Write a text file in one step. Only the owner can read a secret file."""
    write_bytes_atomically(path, text.encode("utf-8"), secret=secret, durable=durable)


def write_bytes_atomically(path: Path, data: bytes, *, secret: bool = False, durable: bool = True) -> None:
    """Write a file in one step, so that no reader and no crash leaves half of it.

    A device or a pipe, such as /dev/stdout, is written to and never replaced. An error names the file itself. A file
    that is not durable may be damaged after a power failure; it is for what can be made again.
    """
    _write(path, [data], 0o600 if secret else 0o644, durable=durable)


def write_parts_atomically(path: Path, parts: Iterable[str]) -> None:
    """Write a text file in one step, with only one of its parts in memory."""
    _write(path, (part.encode("utf-8") for part in parts), 0o644, durable=True)


def _write(path: Path, parts: Iterable[bytes], mode: int, *, durable: bool) -> None:
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            file.writelines(parts)
        return
    try:
        _write_beside(path, parts, mode, durable=durable)
    except OSError as error:
        if error.errno and _is_about(error, path):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _is_about(error: OSError, path: Path) -> bool:
    """Whether an error is about the temporary file, which means nothing to the reader of a message."""
    return error.filename is None or Path(os.fsdecode(error.filename)).name.startswith(f".{path.name[:40]}.")


def _write_beside(path: Path, parts: Iterable[bytes], mode: int, *, durable: bool) -> None:
    """Write a temporary file beside the file, then rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(parts)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


# Windows reserves these names for devices, with any extension.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def file_name(name: str) -> str:
    """Return a name as one safe path component. Different names give different components."""
    escaped = re.sub(r"[^A-Za-z0-9_@+. -]|^[. ]|[. ]$", _percent, name) or "%"
    if len(escaped) <= 200 and not _RESERVED.fullmatch(escaped):
        return escaped
    return f"{escaped[:150]}%{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))

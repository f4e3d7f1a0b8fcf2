"""Files of submissions, read from folders and zips without trusting any name or size in them."""

from __future__ import annotations

import calendar
import io
import os
import stat
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

SCRIPT = ".py"
NOTEBOOK = ".ipynb"
ARCHIVE = ".zip"
MAX_SCRIPT = 2 << 20
MAX_NOTEBOOK = 32 << 20  # a notebook contains its pictures
MAX_ARCHIVE = 64 << 20
MAX_TOTAL = 128 << 20
MAX_FILES = 10_000
SIZE_LIMITS = {SCRIPT: MAX_SCRIPT, NOTEBOOK: MAX_NOTEBOOK, ARCHIVE: MAX_ARCHIVE}


class UnreadableError(Exception):
    """The reason why a submitted file cannot be read, in words for the student."""


@dataclass(frozen=True)
class FileContent:
    """One submitted file: its path in the folder or archive, its content, and its modification time."""

    path: PurePosixPath
    data: bytes
    modified: float


def read_file(path: Path, limit: int | None = None) -> FileContent:
    """Read one regular file within the size limit of its kind, or another. Links are not followed.

    UnreadableError is a problem of the submission, OSError a problem of the machine.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError:
        if path.is_symlink():
            raise UnreadableError("is a link. Hand in the file itself") from None
        if path.exists() and not path.is_file():
            raise UnreadableError("is not a file") from None
        raise  # a failing disk or a missing permission says nothing about the submission
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("is not a file")
        data = read_limited(file, path.suffix.lower(), path.name, limit)
    return FileContent(PurePosixPath(path.name), data, status.st_mtime)


def read_archive(
    entry: FileContent, kinds: Collection[str] = (SCRIPT, NOTEBOOK), only: PurePosixPath | None = None
) -> list[FileContent]:
    """Read the files of some kinds from one student's zip, or only one file.

    One hostile name or size refuses the zip.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(entry.data)) as archive:
            return _members(archive, kinds, only)
    except UnreadableError:
        raise
    except Exception as error:  # noqa: BLE001 - broken zips raise a dozen kinds of errors
        raise UnreadableError(f"cannot be read as a zip ({type(error).__name__})") from None


def _members(archive: zipfile.ZipFile, kinds: Collection[str], only: PurePosixPath | None) -> list[FileContent]:
    infos = archive.infolist()
    if len(infos) > MAX_FILES:
        raise UnreadableError(f"has {len(infos)} files; the limit is {MAX_FILES}")
    entries = []
    total = 0
    for info in infos:
        path = safe_zip_path(info)
        if info.is_dir() or path.suffix.lower() not in kinds or any(map(is_hidden_name, path.parts)):
            continue
        if only is not None and path != only:
            continue
        if info.flag_bits & 1:
            raise UnreadableError("is encrypted. Make a zip without a password")
        with archive.open(info) as file:
            data = read_limited(file, path.suffix.lower(), path.name)
        total += len(data)
        if total > MAX_TOTAL:
            raise UnreadableError(f"unpacks to more than {MAX_TOTAL >> 20} MB")
        entries.append(FileContent(path, data, zip_time(info)))
    if len({entry.path for entry in entries}) != len(entries):
        raise UnreadableError("has two files with the same name")
    return entries


def safe_zip_path(info: zipfile.ZipInfo) -> PurePosixPath:
    """Return the path of a file in a zip; UnreadableError if it has none, leads out of the zip or is a link."""
    name = info.filename.replace("\\", "/")
    path = PurePosixPath(name)
    if not name:
        raise UnreadableError("has a file without a name")
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in info.orig_filename:
        raise UnreadableError("has a path that points outside the zip")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableError("has a link. Put the files themselves into the zip")
    return path


def zip_time(info: zipfile.ZipInfo) -> float:
    """Return when a file in a zip was changed. Zips store no time zone, so it can be off by hours."""
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except ValueError:  # month 0: the zip has no time for it
        return 0.0


def read_limited(file: IO[bytes], suffix: str, name: str, limit: int | None = None) -> bytes:
    """Return the content of a file; UnreadableError if it is larger than its kind may be."""
    limit = limit or SIZE_LIMITS.get(suffix, MAX_SCRIPT)
    data = file.read(limit + 1)  # the size in the header can be false
    if len(data) > limit:
        raise UnreadableError(f"is too large: the limit for a {suffix or name} file is {limit >> 20} MB")
    return data


def is_hidden_name(name: str) -> bool:
    """Whether only programs give a file or folder this name."""
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")

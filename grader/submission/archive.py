"""Files of submissions, read from folders and zips without trusting any name or size in them."""

from __future__ import annotations

import calendar
import errno
import io
import os
import stat
import zipfile
from collections.abc import Callable, Collection, Iterator
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
MAX_CLASS = 4 << 30
# Errors caused by a member's name, not by our disk: it appears twice, is inside a file, or is too long.
_BAD_NAME = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}
_SIZE_LIMITS = {SCRIPT: MAX_SCRIPT, NOTEBOOK: MAX_NOTEBOOK, ARCHIVE: MAX_ARCHIVE}


class UnreadableError(Exception):
    """The reason why a submitted file cannot be read, in words for the student."""


@dataclass(frozen=True)
class FileContent:
    """One submitted file: its path in the folder or archive, its content, and its modification time."""

    path: PurePosixPath
    data: bytes
    modified: float


@dataclass(frozen=True)
class ZipListing:
    """The names of the files in a zip, without litter. `sound` is false if names were left out as hostile."""

    names: tuple[PurePosixPath, ...]
    sound: bool

    @property
    def work(self) -> tuple[PurePosixPath, ...]:
        """The names of the scripts, notebooks and archives."""
        return tuple(name for name in self.names if name.suffix.lower() in _SIZE_LIMITS)


def read_file(path: Path) -> FileContent:
    """Read one regular file within its size limit. Links are not followed.

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
        data = _read_limited(file, path.suffix.lower(), path.name)
    return FileContent(PurePosixPath(path.name), data, status.st_mtime)


def walk(folder: Path) -> Iterator[Path]:
    """Yield the scripts, notebooks and archives below a folder, in order. Links are not followed."""
    count = 0
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not _ignored(name))
        for name in sorted(files):
            count += 1
            if count > MAX_FILES * 100:
                raise UnreadableError("has too many files")
            if not _ignored(name) and Path(name).suffix.lower() in _SIZE_LIMITS:
                yield Path(parent, name)


def read_archive(
    entry: FileContent, kinds: Collection[str] = (SCRIPT, NOTEBOOK), only: PurePosixPath | None = None
) -> list[FileContent]:
    """Read the files of some kinds from a zip, or only one file. One hostile name or size refuses the zip."""
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
        path = _safe_path(info)
        if info.is_dir() or path.suffix.lower() not in kinds or any(map(_ignored, path.parts)):
            continue
        if only is not None and path != only:
            continue
        if info.flag_bits & 1:
            raise UnreadableError("is encrypted. Make a zip without a password")
        with archive.open(info) as file:
            data = _read_limited(file, path.suffix.lower(), path.name)
        total += len(data)
        if total > MAX_TOTAL:
            raise UnreadableError(f"unpacks to more than {MAX_TOTAL >> 20} MB")
        entries.append(FileContent(path, data, _zip_time(info)))
    if len({entry.path for entry in entries}) != len(entries):
        raise UnreadableError("has two files with the same name")
    return entries


def _safe_path(info: zipfile.ZipInfo) -> PurePosixPath:
    name = info.filename.replace("\\", "/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in info.orig_filename:
        raise UnreadableError("has a path that points outside the zip")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableError("has a link. Put the files themselves into the zip")
    return path


def _zip_time(info: zipfile.ZipInfo) -> float:
    """Return when a file in a zip was changed. Zips store no time zone, so it can be off by hours."""
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except ValueError:  # month 0: the zip has no time for it
        return 0.0


def listing(path: Path) -> ZipListing:
    """Return the names of the files in a zip, without reading them. A broken zip has none: reading it says why."""
    names = []
    sound = True
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                try:
                    name = _safe_path(info)
                except UnreadableError:
                    sound = False
                    continue
                if not info.is_dir() and not any(map(_ignored, name.parts)):
                    names.append(name)
    except Exception:  # noqa: BLE001 - reading the zip later reports the problem
        return ZipListing((), sound=False)
    return ZipListing(tuple(names), sound)


def unpack(path: Path, folder: Path, place: Callable[[PurePosixPath], PurePosixPath | None]) -> list[tuple[str, str]]:
    """Unpack the zip of a class. Return the members it left out, and why.

    A member goes where `place` says, or if that does not know it, where its own name says. A hostile or broken member
    is left out. All others are unpacked.
    """
    left_out: list[tuple[str, str]] = []
    total = 0
    with _opened(path) as archive:
        for info in archive.infolist():
            try:
                name = _safe_path(info)
                if info.is_dir() or name.suffix.lower() not in _SIZE_LIMITS or any(map(_ignored, name.parts)):
                    continue
                with archive.open(info) as file:
                    data = _read_limited(file, name.suffix.lower(), name.name)
                total += len(data)
                if total > MAX_CLASS:
                    raise UnreadableError(f"would make the class larger than {MAX_CLASS >> 30} GB")
                target = folder / (place(name) or name)
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as unpacked:
                    unpacked.write(data)
                os.utime(target, (_zip_time(info), _zip_time(info)))  # of two drafts, the later one counts
            except UnreadableError as error:
                left_out.append((info.filename, str(error)))
            except OSError as error:
                if error.errno not in _BAD_NAME:
                    raise
                left_out.append((info.filename, f"cannot be unpacked: {error.strerror}"))
            except Exception as error:  # noqa: BLE001 - broken data raises a dozen kinds of errors
                left_out.append((info.filename, f"cannot be unpacked ({type(error).__name__})"))
    return left_out


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(path)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - broken zips raise a dozen kinds of errors
        raise UnreadableError(f"cannot be read as a zip ({type(error).__name__})") from None
    if len(archive.infolist()) > MAX_FILES * 100:
        archive.close()
        raise UnreadableError("has too many files")
    return archive


def _read_limited(file: IO[bytes], suffix: str, name: str) -> bytes:
    limit = _SIZE_LIMITS.get(suffix, MAX_SCRIPT)
    data = file.read(limit + 1)  # the size in the header can be false
    if len(data) > limit:
        raise UnreadableError(f"is too large: the limit for a {suffix or name} file is {limit >> 20} MB")
    return data


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")

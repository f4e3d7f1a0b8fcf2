"""Zips and tars of a class, unpacked without trusting any name or size in them."""

from __future__ import annotations

import errno
import gzip
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from grader.submission.archive import (
    MAX_ARCHIVE,
    MAX_FILES,
    SIZE_LIMITS,
    UnreadableError,
    is_hidden_name,
    read_limited,
    safe_zip_path,
    zip_time,
)

MAX_CLASS = 4 << 30
MANIFEST = "submission_metadata.yml"  # of Gradescope
# What platforms write about the submissions: Gradescope, Sakai, Blackboard.
_PLATFORMS_OWN = re.compile(rf"{re.escape(MANIFEST)}|timestamp\.txt|.+_attempt_[\d-]+\.txt")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_BROKEN_TAR: list[type[Exception]] = [tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError]
with suppress(ImportError):  # a browser's Python has no lzma
    from lzma import LZMAError

    _BROKEN_TAR.append(LZMAError)
# Errors caused by a member's name, not by our disk: it appears twice, is inside a file, or is too long.
_BAD_NAME = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}


@dataclass(frozen=True)
class _Member:
    """One file of an archive. `path` raises UnreadableError if its name is hostile."""

    name: str
    path: Callable[[], PurePosixPath]
    open: Callable[[], IO[bytes]]
    modified: float


@dataclass(frozen=True)
class Listing:
    """The names of the files in an archive, without hidden ones. `sound` is false if names were hostile."""

    names: tuple[PurePosixPath, ...]
    sound: bool

    @property
    def work(self) -> tuple[PurePosixPath, ...]:
        """The names of the scripts, notebooks and zips."""
        return tuple(name for name in self.names if name.suffix.lower() in SIZE_LIMITS)


def listing(path: Path) -> Listing:
    """Return the names of the files in an archive. A broken one has none: reading it says why."""
    names = []
    sound = True
    try:
        with closing(_members(path)) as members:
            for member in members:
                try:
                    name = member.path()
                except UnreadableError:
                    sound = False
                    continue
                if not any(map(is_hidden_name, name.parts)):
                    names.append(name)
    except Exception:  # noqa: BLE001 - reading the archive later reports the problem
        return Listing((), sound=False)
    return Listing(tuple(names), sound)


def is_tar(path: Path) -> bool:
    """Whether a path is named like a tar."""
    return path.name.casefold().endswith(TARS)


def stem(path: Path) -> str:
    """Return the name of an archive without its ending."""
    end = next((end for end in sorted(TARS, key=len, reverse=True) if path.name.casefold().endswith(end)), path.suffix)
    return path.name[: len(path.name) - len(end)] if end else path.name


def unpack(path: Path, folder: Path) -> list[tuple[str, str]]:
    """Unpack the archive of a class. Return the members it left out, and why.

    A hostile or broken member is left out. All others are unpacked.
    """
    left_out: list[tuple[str, str]] = []
    total = 0
    with closing(_members(path)) as members:
        for member in members:
            try:
                name = member.path()
                data = _content(name, member)
                total += len(data)
                if total > MAX_CLASS:
                    raise UnreadableError(f"would make the class larger than {MAX_CLASS >> 30} GB")
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as unpacked:
                    unpacked.write(data)
                os.utime(target, (member.modified, member.modified))  # of two drafts, the later one counts
            except UnreadableError as error:
                left_out.append((member.name, str(error)))
            except OSError as error:
                if error.errno not in _BAD_NAME:
                    raise
                left_out.append((member.name, f"cannot be unpacked: {error.strerror}"))
            except Exception as error:  # noqa: BLE001 - broken data raises a dozen kinds of errors
                left_out.append((member.name, f"cannot be unpacked ({type(error).__name__})"))
    return left_out


def _content(name: PurePosixPath, member: _Member) -> bytes:
    """Return the content of a member that may be needed. Of any other file, only its name is."""
    needed = name.suffix.lower() in SIZE_LIMITS or _PLATFORMS_OWN.fullmatch(name.name) or ".git" in name.parts
    if not needed or "__MACOSX" in name.parts:
        return b""
    with member.open() as file:
        return read_limited(file, name.suffix.lower(), name.name, SIZE_LIMITS.get(name.suffix.lower(), MAX_ARCHIVE))


def _members(path: Path) -> Generator[_Member]:
    return _tar_members(path) if is_tar(path) else _zip_members(path)


def _zip_members(path: Path) -> Generator[_Member]:
    try:
        archive = zipfile.ZipFile(path)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - broken zips raise a dozen kinds of errors
        raise UnreadableError(f"cannot be read as a zip ({type(error).__name__})") from None
    with archive:
        if len(archive.infolist()) > MAX_FILES * 100:
            raise UnreadableError("has too many files")
        for info in archive.infolist():
            if not info.filename.endswith("/"):  # `is_dir` of Python 3.11 fails for an empty name
                yield _Member(info.filename, partial(safe_zip_path, info), partial(archive.open, info), zip_time(info))


def _tar_members(path: Path) -> Generator[_Member]:
    try:
        with tarfile.open(path) as archive:
            for count, info in enumerate(archive, 1):
                if count > MAX_FILES * 100:
                    raise UnreadableError("has too many files")
                if not info.isdir():
                    yield _Member(
                        info.name, partial(_safe_tar_path, info), partial(_tar_file, archive, info), _tar_time(info)
                    )
    except tuple(_BROKEN_TAR) as error:
        raise UnreadableError(f"cannot be read as a tar ({type(error).__name__})") from None


def _safe_tar_path(info: tarfile.TarInfo) -> PurePosixPath:
    path = PurePosixPath(info.name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in info.name or "\0" in info.name or not path.parts:
        raise UnreadableError("has a path that points outside the tar")
    if not info.isreg():
        raise UnreadableError("is a link or not a file")
    return path


def _tar_file(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    file = archive.extractfile(info)
    if file is None:
        raise UnreadableError("is a link or not a file")
    return file


def _tar_time(info: tarfile.TarInfo) -> float:
    return float(info.mtime) if 0 <= info.mtime < 4e9 else 0.0

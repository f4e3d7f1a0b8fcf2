"""Seeds of the random inputs of checks: the same for every student, and secret for hidden checks."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import CourseError

PUBLIC_SALT = "attnlab-visible"


def secret_salt(course: Course) -> str:
    """Return the course's salt for hidden suites."""
    return course_secret(course, "salt")


def course_secret(course: Course, name: str) -> str:
    """Return a secret of the course. It is created on first use and is not in git."""
    path = course.root / ".attnlab" / name
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    temporary = path.with_name(f"{name}.{os.getpid()}")
    write_atomically(temporary, secrets.token_hex(16) + "\n", secret=True)
    with contextlib.suppress(FileExistsError):  # if two processes create it at once, both read the salt of the winner
        _publish(temporary, path)
    temporary.unlink(missing_ok=True)
    return _read(path)


def _read(path: Path) -> str:
    """Return a secret. One that is empty or no text would be no secret."""
    data = path.read_bytes()
    secret = data.decode("ascii", "replace").strip()
    if not secret or not secret.isascii() or not secret.isprintable():
        fix = "Restore it from a backup. If there is none, remove it, and grade the class again with a new one"
        raise CourseError(path, "", "is empty or damaged", fix)
    return secret


def _publish(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        temporary.rename(path)


def seed_of(salt: str, module: str, check: str) -> int:
    """Return the seed of one check's random inputs."""
    digest = hashlib.sha256(f"{salt}\0{module}\0{check}".encode()).digest()
    return int.from_bytes(digest[:16], "big")

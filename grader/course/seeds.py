"""Seeds: a check's random inputs are the same for every student of a course, and secret if it is hidden."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.course.course import Course

PUBLIC_SALT = "attnlab-visible"


def secret_salt(course: Course) -> str:
    """Return the course's salt for hidden suites, made on first use and kept out of git."""
    path = course.root / ".attnlab" / "salt"
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="utf-8").strip()
    made = path.with_name(f"salt.{os.getpid()}")
    write_atomically(made, secrets.token_hex(16) + "\n", secret=True)
    with contextlib.suppress(FileExistsError):  # of two first uses at once, one wins and both read its salt
        _publish(made, path)
    made.unlink(missing_ok=True)
    return path.read_text(encoding="utf-8").strip()


def _publish(made: Path, path: Path) -> None:
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:  # a filesystem without links
        made.rename(path)


def seed_of(salt: str, module: str, check: str) -> int:
    """Return the seed of one check's random inputs."""
    digest = hashlib.sha256(f"{salt}\0{module}\0{check}".encode()).digest()
    return int.from_bytes(digest[:16], "big")

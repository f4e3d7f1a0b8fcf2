"""The time of the last commit in a student's clone.

A clone's configuration and hooks belong to the student. They are never read: git runs with an empty repository of
our own, and only looks into the clone's objects.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from grader.submission.archive import UnreadableError, read_file

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/[\w./@+-]+)")
_COMMITTER = re.compile(r"^committer .*> (\d{1,11}) [+-]\d{4}$", re.MULTILINE)
_SECONDS = 20


def commit_time(clone: Path) -> float | None:
    """Return when the last commit of a clone was made; None if it is not a clone, or git cannot say."""
    git = clone / ".git"
    objects = git / "objects"
    if any(path.is_symlink() or not path.is_dir() for path in (git, objects)):
        return None
    commit = _head(git)
    return _committed(objects, commit) if commit else None


def _head(git: Path) -> str:
    """Return the hash of the commit that a clone has checked out; empty if unknown."""
    text = _text(git / "HEAD")
    match = _REF.fullmatch(text)
    if match and ".." not in match[1]:
        packed = [line.split(" ") for line in _text(git / "packed-refs").splitlines()]
        named = next((line[0] for line in packed if line[1:] == [match[1]]), "")
        text = _text(git / match[1]) or named
    return text if _HASH.fullmatch(text) else ""


def _committed(objects: Path, commit: str) -> float | None:
    with tempfile.TemporaryDirectory(prefix="attn-git-") as own:
        outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env = outside | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", "HOME": own}
        try:
            _git(env, "init", "-q", "--template=", own)
            env |= {"GIT_DIR": f"{own}/.git", "GIT_OBJECT_DIRECTORY": str(objects.resolve())}
            text = _git(env, "--no-replace-objects", "cat-file", "commit", commit)
        except (OSError, subprocess.SubprocessError):  # no git, or not a clone that it can read
            return None
    header = text.decode("utf-8", "replace").partition("\n\n")[0]
    match = _COMMITTER.search(header)
    moment = float(match[1]) if match else 0.0
    return moment if 0.0 < moment < 4e9 else None


def _git(env: dict[str, str], *arguments: str) -> bytes:
    command = ["git", *arguments]
    done = subprocess.run(
        command, env=env, cwd=env["HOME"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=True
    )
    return done.stdout


def _text(path: Path) -> str:
    try:
        return read_file(path).data.decode("ascii", "replace").strip()
    except (UnreadableError, OSError):
        return ""

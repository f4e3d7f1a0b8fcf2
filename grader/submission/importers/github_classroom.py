"""GitHub Classroom: `sort-submissions/sort-janedoe/`, a clone for each student or team.

The account is what follows the assignment's name. The time is that of the last commit. A clone's configuration and
hooks belong to the student. They are never read: git runs with an empty repository of our own, and only looks into the
clone's objects.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from grader.submission.archive import UnreadableError, read_file
from grader.submission.identity import Claim, Identity, NotWork

PLATFORM = "GitHub Classroom"
_CONTAINER = re.compile(r"(?P<assignment>.+)-submissions(?:[ -]\(?\d+\)?)?")
_BRANCH = re.compile(r"-(?:main|master)$")  # the zip of a repository is called `sort-janedoe-main`
_COPY_NUMBER = re.compile(r"\d{1,2}")  # the second copy of a folder is called `sort-1`: that is no account
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/[\w./@+-]+)")
_COMMITTER = re.compile(r"^committer .*> (\d{1,11}) [+-]\d{4}$", re.MULTILINE)
_SECONDS = 20


class GitHubClassroom:
    """The clones of a class."""

    platform = PLATFORM

    def __init__(self, folder: Path, accounts: dict[str, str]) -> None:
        self.folder = folder
        self.accounts = accounts  # by the name of the clone
        self._times: dict[str, float | None] = {}

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the name of the clone and its last commit say."""
        repository = name.parts[0]
        account = self.accounts.get(repository)
        if account is None or len(name.parts) < 2:
            return None
        if repository not in self._times:
            self._times[repository] = commit_time(self.folder / repository)
        who = Identity(account, (("github", account),))
        return Claim((who,), PurePosixPath(*name.parts[1:]), handed_in=self._times[repository])


def _assignment(container: str, folders: Sequence[str], clones: Sequence[str], is_module: Callable[[str], bool]) -> str:
    """Return the name of the assignment; empty if these are not the clones of one."""
    match = _CONTAINER.fullmatch(container)
    if match and any(name.startswith(f"{match['assignment']}-") for name in folders):
        return match["assignment"]
    starts = [start for name in folders for start in _starts(name) if is_module(start)]
    if starts:
        most = max(starts, key=starts.count)
        found = [name for name in folders if name.startswith(f"{most}-")]
        return most if len(found) > 1 or found[0] in clones else ""
    return _shared(folders) if len(clones) == len(folders) > 1 else ""


def _starts(name: str) -> list[str]:
    """Return the beginnings of a name, up to each of its hyphens."""
    parts = name.split("-")
    return ["-".join(parts[:count]) for count in range(1, len(parts))]


def _shared(names: Sequence[str]) -> str:
    """Return what all names begin with, up to a hyphen."""
    shared = [start for start in _starts(names[0]) if all(name.startswith(f"{start}-") for name in names)]
    return shared[-1] if shared else ""


def is_container(name: str) -> bool:
    """Whether a folder has the name that `gh classroom clone` gives to the folder of an assignment."""
    return _CONTAINER.fullmatch(name) is not None


def clones_of(container: str, folder: Path, is_module: Callable[[str], bool]) -> GitHubClassroom | None:
    """Return the importer for a folder of clones; None if it is none.

    Their names begin with that of the assignment. It is known from the container that `gh classroom` makes, or because
    it is a module's, or because all folders are clones and share it.
    """
    found = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    folders = [path.name for path in found if not path.name.startswith((".", "__"))]
    clones = [path.name for path in found if (path / ".git").is_dir() and not (path / ".git").is_symlink()]
    assignment = _assignment(container, folders, clones, is_module)
    if not assignment:
        return None
    accounts = {}
    for name in (one for one in folders if one.startswith(f"{assignment}-")):
        account = name.removeprefix(f"{assignment}-")
        accounts[name] = account if name in clones else _BRANCH.sub("", account)
        if _COPY_NUMBER.fullmatch(accounts[name]):
            accounts[name] = name
    return GitHubClassroom(folder, accounts)


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

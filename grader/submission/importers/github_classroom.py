"""GitHub Classroom: `sort-submissions/sort-janedoe/`, a clone for each student or team.

The account is what follows the assignment's name. The time is that of the last commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from grader.submission.git_time import commit_time
from grader.submission.identity import Identity
from grader.submission.importers.claim import Claim, NotWork

PLATFORM = "GitHub Classroom"
_CONTAINER = re.compile(r"(?P<assignment>.+)-submissions(?:[ -]\(?\d+\)?)?")
_BRANCH = re.compile(r"-(?:main|master)$")  # the zip of a repository is called `sort-janedoe-main`


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
    return GitHubClassroom(folder, accounts)

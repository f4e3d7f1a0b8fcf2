"""GitHub Classroom: `softmax-submissions/softmax-janedoe/`, a clone for each student or team.

The account is what follows the assignment's name. The time is that of the last commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from grader.submission.git_time import commit_time
from grader.submission.identity import Identity
from grader.submission.importers.claim import Claim, NotWork

PLATFORM = "GitHub Classroom"
_CONTAINER = re.compile(r"(?P<assignment>.+)-submissions(?:[ -]\(?\d+\)?)?")
_BRANCH = re.compile(r"-(?:main|master)$")  # the zip of a repository is called `softmax-janedoe-main`


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


class _Names:
    """The folders of a class, and what their names begin with."""

    def __init__(self, container: str, folders: Sequence[str], clones: Sequence[str]) -> None:
        self.container = _CONTAINER.fullmatch(container)
        self.folders = folders
        self.clones = clones

    @cached_property
    def shared(self) -> str:
        """What all names have in common, up to a hyphen."""
        split = [name.split("-") for name in self.folders]
        shared = []
        for parts in zip(*(one[:-1] for one in split), strict=False):
            if len(set(parts)) > 1:
                break
            shared.append(parts[0])
        return "-".join(shared)

    def assignment(self, is_module: Callable[[str], bool]) -> str:
        """Return the name of the assignment; empty if these are not the clones of one."""
        if self.container and all(name.startswith(f"{self.container['assignment']}-") for name in self.folders):
            return self.container["assignment"]
        parts = self.shared.split("-") if self.shared else []
        starts = ["-".join(parts[:count]) for count in range(1, len(parts) + 1)]
        named = next((start for start in starts if is_module(start)), "")
        all_clones = len(self.clones) == len(self.folders) > 1
        return named if named and (self.clones or len(self.folders) > 1) else self.shared if all_clones else ""


def is_container(name: str) -> bool:
    """Whether a folder has the name that `gh classroom clone` gives to the folder of an assignment."""
    return _CONTAINER.fullmatch(name) is not None


def clones_of(container: str, folder: Path, is_module: Callable[[str], bool]) -> GitHubClassroom | None:
    """Return the importer for a folder of clones; None if it is none.

    Its folders all begin with the assignment's name. That is known from the container that `gh classroom` makes, or
    because it is a module's, or because all folders are clones and share it.
    """
    found = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    folders = [path.name for path in found if not path.name.startswith((".", "__"))]
    clones = [path.name for path in found if (path / ".git").is_dir() and not (path / ".git").is_symlink()]
    assignment = _Names(container, folders, clones).assignment(is_module) if folders else ""
    if not assignment:
        return None
    accounts = {}
    for name in folders:
        account = name.removeprefix(f"{assignment}-")
        accounts[name] = account if name in clones else _BRANCH.sub("", account)
    return GitHubClassroom(folder, accounts)

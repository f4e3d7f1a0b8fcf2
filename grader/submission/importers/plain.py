"""Plain folders: `<student>/<module>/<file>`, `<student>/<file>`, or a file named after its student."""

from __future__ import annotations

from pathlib import PurePosixPath

from grader.submission.identity import folder_identity
from grader.submission.importers.claim import Claim
from grader.submission.module_names import ModuleNames


class PlainFolders:
    """Files whose folders say whose they are."""

    platform = ""

    def __init__(self, names: ModuleNames, container: str, owner: str | None) -> None:
        self.names = names
        self.container = container
        self.owner = owner  # whose work everything is

    def claim(self, name: PurePosixPath) -> Claim:
        """Return what the folders of a file say: the first that is not a module's is the student's."""
        folders = self.names.folders(name)
        who = self._student(name, folders)
        attempt = "/".join(folders if self.owner is not None else folders[1:])
        return Claim((folder_identity(who),), name, attempt)

    def _student(self, name: PurePosixPath, folders: list[str]) -> str:
        if self.owner is not None:
            return self.owner
        if folders:
            return folders[0]
        named_after_module = name.parent.parts or self.names.by_name(PurePosixPath(name.name))[0]
        return self.container if named_after_module else name.stem

"""Old public names of the grader's modules. They still work.

Courses, released notebooks, nbgrader configurations and installed entry points name modules of the grader as text. They
keep working when a module moves.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

MOVED = {
    "grader.compare": "grader.core.compare",
    "grader.errors": "grader.core.errors",
    "grader.lab": "grader.grading.notebook_magic",
    "grader.nb": "grader.platforms.nbgrader",
    "grader.nb.exporter": "grader.platforms.nbgrader.exporter",
    "grader.nb.late": "grader.platforms.nbgrader.late_plugin",
    "grader.nb.preprocessors": "grader.platforms.nbgrader.preprocessors",
    "grader.nb.safe": "grader.platforms.nbgrader.safe_markdown",
    "grader.pytest_plugin": "grader.grading.pytest_plugin",
}


class OldNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import a moved module under its old name: the same module object, not a copy."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(MOVED[spec.name])
        spec.loader_state = module.__spec__  # the import system is about to replace it
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def accept_old_names() -> None:
    """Let moved modules be imported by their old names."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        # Before Python's own finder, which would load a second copy of a module below a moved package.
        sys.meta_path.insert(0, OldNames())

"""A student's sources as importable modules: the graded one, and their others as `mylab.<slug>`."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import linecache
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

PACKAGE = "mylab"
_MAGIC = re.compile(r"^(\s*)([%!].*)$", re.MULTILINE)


class StudentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of one student's modules, from memory: slug → {file, cells, notebook}."""

    def __init__(self, files: Mapping[str, Mapping[str, Any]]) -> None:
        self.files = files
        self.filenames: set[str] = set()
        self.main = ModuleType(PACKAGE)
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]
        sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not StudentModules]
        sys.meta_path.insert(0, self)

    def load(self, slug: str) -> list[BaseException]:
        """Run the graded module; return what its cells raised (a script is one cell)."""
        name = f"{PACKAGE}.{slug}"
        self.main = ModuleType(name)
        self.main.__package__ = PACKAGE
        self.main.__file__ = self.files[slug]["file"]
        sys.modules[name] = self.main
        return list(self.run(self.main, slug))

    def run(self, module: ModuleType, slug: str) -> Iterator[BaseException]:
        """Execute a module's cells; a notebook goes on after a cell that raises, as Jupyter may."""
        source = self.files[slug]
        for number, data in enumerate(source["cells"], 1):
            cell = data.decode("utf-8", "surrogatepass")
            filename = f"{source['file']}[{number}]" if source["notebook"] else source["file"]
            self.filenames.add(filename)
            linecache.cache[filename] = (len(cell), None, cell.splitlines(keepends=True), filename)
            try:
                exec(_compile(cell, filename, notebook=source["notebook"]), vars(module))
            except BaseException as error:  # noqa: BLE001 - reported to the trusted side
                yield error

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, slug = fullname.partition(".")
        if package != PACKAGE or (slug and slug not in self.files):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=not slug)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let the import system make an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        slug = module.__name__.partition(".")[2]
        if slug:
            for error in self.run(module, slug):
                if not self.files[slug]["notebook"]:
                    raise error


def _compile(cell: str, filename: str, *, notebook: bool) -> Any:
    try:
        return compile(cell, filename, "exec", dont_inherit=True)
    except SyntaxError:
        # Only a cell that is no Python is searched for IPython's %magics and !commands.
        if not notebook or not _MAGIC.search(cell):
            raise
        return compile(without_magics(cell), filename, "exec", dont_inherit=True)


def without_magics(cell: str) -> str:
    """Return a cell with its IPython lines turned into `pass`, line numbers kept."""
    if cell.lstrip().startswith(("%%html", "%%bash", "%%javascript", "%%writefile", "%%latex", "%%sh")):
        return ""
    return _MAGIC.sub(lambda match: f"{match[1]}pass  # {match[2]}", cell)

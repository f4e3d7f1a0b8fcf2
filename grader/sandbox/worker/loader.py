"""Import of a student's sources: the graded module, and their other modules as `mylab.<slug>`."""

from __future__ import annotations
import __future__

import ast
import importlib.abc
import importlib.machinery
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from grader.core.syntax import without_magic
from grader.sandbox.protocol.call_names import PACKAGE

_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})


class StudentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Find and load one student's modules from memory: slug → {file, cells, notebook}."""

    def __init__(self, files: Mapping[str, Mapping[str, Any]]) -> None:
        self.files = files
        self.filenames: set[str] = set()
        self.given = {str(one["file"]) for one in files.values() if one.get("given")}  # the course's own files
        self.main = ModuleType(PACKAGE)
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, StudentModules)]
        sys.meta_path.insert(0, self)

    def load(self, slug: str) -> list[BaseException]:
        """Run the graded module. Return the exceptions of its cells; a script is one cell."""
        name = f"{PACKAGE}.{slug}"
        self.main = ModuleType(name)
        self.main.__package__ = PACKAGE
        self.main.__file__ = self.files[slug]["file"]
        sys.modules[name] = self.main
        return list(self.run(self.main, slug))

    def run(self, module: ModuleType, slug: str) -> Iterator[BaseException]:
        """Execute a module's cells. A notebook continues after a cell that raises, as in Jupyter."""
        source = self.files[slug]
        names = vars(module)
        names.setdefault("get_ipython", _Shell)
        names |= self.injected()
        if source["notebook"]:
            names |= {"__name__": "__main__", "display": _Shell().display, "In": [""], "Out": {}, "_": None}
        flags = 0  # `from __future__` also applies to the cells after it
        for number, data in enumerate(source["cells"], 1):
            cell = data.decode("utf-8", "surrogatepass")
            filename = f"{source['file']}[{number}]" if source["notebook"] else source["file"]
            self.filenames.add(filename)
            linecache.cache[filename] = (len(cell), None, cell.splitlines(keepends=True), filename)
            try:
                code = self.compile(cell, filename, flags, notebook=source["notebook"])
                flags |= code.co_flags & _FUTURES
                coroutine = eval(code, names)
                if coroutine is not None:  # a notebook may `await` at the top level
                    import asyncio

                    asyncio.run(coroutine)
            except BaseException as error:  # noqa: BLE001 - reported to the trusted side
                yield error

    def loaded(self) -> list[ModuleType]:
        """Return the graded module, and the student's modules that it imported."""
        return [one for name, one in sys.modules.items() if name.startswith(f"{PACKAGE}.")]

    def compile(self, cell: str, filename: str, flags: int, *, notebook: bool) -> CodeType:
        """Return the compiled code of a cell."""
        return _compiled(cell, filename, flags, notebook)

    def injected(self) -> dict[str, Any]:
        """Return extra names that a module has before it runs."""
        return {}

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system fixes this signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, slug = fullname.partition(".")
        if package != PACKAGE or (slug and slug not in self.files):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=not slug)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let the import system create an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        slug = module.__name__.partition(".")[2]
        if slug:
            for error in self.run(module, slug):
                if not self.files[slug]["notebook"]:
                    raise error


@lru_cache(maxsize=256)  # a worker that serves many wrong ways loads each of them several times
def _compiled(cell: str, filename: str, flags: int, notebook: bool) -> CodeType:
    code: CodeType = compile_cell(cell, filename, flags, notebook=notebook)
    return code


def forget_compiled() -> None:
    """Forget all compiled cells."""
    _compiled.cache_clear()


def compile_cell(cell: str, filename: str, flags: int, *, notebook: bool) -> Any:
    """Compile a cell, or parse it to a tree if the flags say so.

    In a notebook, IPython lines that Python cannot parse are removed one by one.
    """
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if notebook else 0
    while True:
        try:
            return compile(cell, filename, "exec", flags=flags, dont_inherit=True)
        except SyntaxError as error:
            fixed = without_magic(cell, error.lineno or 0) if notebook else None
            if fixed is None:
                raise
            cell = fixed


class _Shell:
    """A stand-in for IPython's shell. Every method returns None."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None  # noqa: ARG005

"""Earlier modules in later ones: what `from mylab.warm_up import stretch` in an author's file means."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType

from grader.course.course import Course
from grader.course.module import Module, read_text

PACKAGE = "mylab"  # the package of a student's modules
_IMPORT = re.compile(r"^\s*(?:from|import)\s+mylab\b[^#\n]*", re.MULTILINE)


def imported_modules(course: Course, module: Module, text: str) -> tuple[Module, ...]:
    """Return the earlier modules that the imports of a file name."""
    words = {word for line in _IMPORT.findall(text) for word in re.findall(r"\w+", line)}
    return tuple(other for other in course.modules if other.order < module.order and other.slug in words)


def earlier_solutions(course: Course, module: Module, text: str) -> dict[str, str]:
    """Return, by slug, the solutions that a file imports, and those that they import."""
    found: dict[str, str] = {}
    todo = [*imported_modules(course, module, text)]
    while todo:
        one = todo.pop()
        if one.slug not in found:
            found[one.slug] = read_text(course.solution(one))
            todo += imported_modules(course, one, found[one.slug])
    return found


@contextmanager
def importable(sources: Mapping[str, str]) -> Iterator[None]:
    """Let code in this process import some sources as `mylab.<slug>`, and nothing else under that name."""
    finder = _Finder(sources)
    before = _taken()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _taken()
        sys.modules.update(before)


def _taken() -> dict[str, ModuleType]:
    """Remove the package from the imported modules, and return what was removed."""
    names = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system fixes this signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, slug = fullname.partition(".")
        if package != PACKAGE:
            return None
        if slug and slug not in self.sources:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=not slug)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let the import system create an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        if slug := module.__name__.partition(".")[2]:
            exec(compile(self.sources[slug], f"{slug}.py", "exec"), vars(module))

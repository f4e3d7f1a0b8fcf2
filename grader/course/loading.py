"""Import of a course's Python files, and of the solutions that they import as `mylab.<module>`."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from grader.course.course import Course
from grader.course.module import CourseError, Module, read_text

PACKAGE = "mylab"  # the package of a student's modules
_IMPORT = re.compile(r"^\s*(?:from|import)\s+mylab\b[^#\n]*", re.MULTILINE)


def load_python(path: Path, name: str, *, verb: str, missing: str, fix: str) -> ModuleType:
    """Import a file under a name of its own. A missing file, or one that raises, is a CourseError."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CourseError(path, "", "is missing", missing)
    module = importlib.util.module_from_spec(spec)
    # No .pyc: after an edit within the same second, Python would load the old one.
    previous, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(path, "", f"cannot be {verb}: {type(error).__name__}: {error}", fix) from error
    finally:
        sys.dont_write_bytecode = previous
    return module


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


def load_reference(course: Course, module: Module) -> ModuleType:
    """Import a module's solution, on top of earlier ones. If that fails, it is a CourseError."""
    path, name = course.solution(module), f"_reference_{module.name}"
    sources = earlier_solutions(course, module, read_text(path)) if path.is_file() else {}
    with importable(sources):
        return load_python(path, name, verb="imported", missing="Every module needs a solution", fix="Fix the solution")

"""Which module a file is for: by its name, by a folder's name, or by the functions in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.course.notebook import NotebookError, read_cells
from grader.submission.archive import NOTEBOOK

# How well a file fits its module. If a student has several files for one module, only those that fit best count.
NBGRADER, EXACT, SIMILAR, FOLDER, CONTENT, REQUESTED = 5, 4, 3, 2, 1, 0
USE = "Use --module, or --map"
UNKNOWN_MODULE = f"cannot tell which module it is for. {USE}"
NO_FUNCTION = "defines no function of any module"
GIVEN = "is a fallback that the course gives to students, not their work"
CONTAINERS = ("modules", "submitted")  # folders that contain modules or submissions

# What a browser, a file manager or a platform adds: `warm_up (1)`, `warm_up-1`, `warm_up - Copy`, `Copy of warm_up`.
_ADDED = re.compile(r"(?:[ _-]*\(\d+\)|[ _-]+\d{1,3}|[ _-]+copy(?:[ _-]*\(?\d*\)?)?)+$")
_COPY_OF = re.compile(r"^copy of ")
# A pattern, not a parser: this text is a student's, and a parser can be crashed.
_DEFINED = re.compile(r"^(?:async +)?(?:def|class) +(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class ModuleGuess:
    """The module of a file and how well it fits, or the reason why it is not known.

    `is_helper` is true if nothing in the file belongs to a module.
    """

    module: Module | None
    fit: int = 0
    problem: str = ""
    is_helper: bool = False


@dataclass(frozen=True)
class ModuleNames:
    """The modules of a course, and the one that --module names."""

    course: Course
    requested: Module | None = None

    def is_module(self, name: str) -> bool:
        """Whether a name is that of a module, or of a folder that contains modules or submissions."""
        return name in CONTAINERS or self._exact(name) is not None

    def is_similar(self, name: str) -> bool:
        """Whether a name is that of a module, apart from what programs change in it."""
        return self._similar(name) is not None

    def folders(self, path: PurePosixPath) -> list[str]:
        """Return the folders of a file that are not a module's."""
        return [part for part in path.parent.parts if not self.is_module(part)]

    def by_name(self, path: PurePosixPath) -> tuple[Module | None, int]:
        """Return the module that a path names, and how well it fits."""
        for module, fit in ((self._exact(path.stem), EXACT), (self._similar(path.stem), SIMILAR)):
            if module is not None:
                return module, fit
        for part in path.parent.parts[::-1]:
            if module := self._exact(part):
                return module, FOLDER
        return None, REQUESTED

    def guess(self, path: PurePosixPath, read: Callable[[], bytes]) -> ModuleGuess:
        """Return the module of a file. Its content is read only if its own name does not say."""
        module, fit = self.by_name(path)
        if fit >= SIMILAR:
            return ModuleGuess(module, fit)
        data = read()
        if data.replace(b"\r\n", b"\n") in self._fallbacks:
            return ModuleGuess(None, problem=GIVEN, is_helper=True)
        defined = _defined(path, data)
        inside = self._by_content(defined)
        if module is not None:
            if inside and all(one is not module for one in inside) and not self._defines(module, defined):
                other = " or ".join(one.name for one in inside)
                return ModuleGuess(
                    None, problem=f"is in a folder of {module.name}, but has the functions of {other}. {USE}"
                )
            return ModuleGuess(module, fit)
        if self.requested is not None:
            return ModuleGuess(self.requested, CONTENT if self.requested in inside else REQUESTED)
        if len(inside) == 1:
            return ModuleGuess(inside[0], CONTENT)
        if inside:
            several = " and ".join(one.name for one in inside)
            return ModuleGuess(None, problem=f"has the functions of {several}. {USE}")
        return ModuleGuess(None, problem=f"{NO_FUNCTION}: {UNKNOWN_MODULE}", is_helper=True)

    def _exact(self, name: str) -> Module | None:
        return next((one for one in self.course.modules if name in (one.name, one.slug)), None)

    def _similar(self, name: str) -> Module | None:
        wanted = {name.casefold(), _ADDED.sub("", _COPY_OF.sub("", name.casefold()))}
        plain = {re.sub(r"[\s_-]+", "_", one).strip("_") for one in wanted}
        return next((one for one in self.course.modules if plain & {one.name, one.slug}), None)

    @cached_property
    def _fallbacks(self) -> frozenset[bytes]:
        """The course's own files with the functions of a module: they are not a student's work."""
        return frozenset(path.read_bytes() for one in self.course.modules for path in one.fallbacks.values())

    @cached_property
    def _names(self) -> dict[str, frozenset[str]]:
        """The functions and classes of each module."""
        found = {}
        for module in self.course.modules:
            try:
                api = self.course.api(module)
            except CourseError:
                continue  # the course is checked elsewhere; its files are then known by name only
            found[module.name] = frozenset((*api.functions, *api.classes))
        return found

    def _defines(self, module: Module, defined: frozenset[str]) -> bool:
        return bool(self._names.get(module.name, frozenset()) & defined)

    def _by_content(self, defined: frozenset[str]) -> list[Module]:
        """Return the modules all of whose functions are defined; if there is none, those with one of them."""
        names = {module: self._names.get(module.name, frozenset()) for module in self.course.modules}
        complete = [module for module, own in names.items() if own and own <= defined]
        if complete:
            return complete
        return [module for module, own in names.items() if own & defined]


def _defined(path: PurePosixPath, data: bytes) -> frozenset[str]:
    """Return the names of the functions and classes that a script or notebook defines."""
    try:
        texts = read_cells(data) if path.suffix.lower() == NOTEBOOK else (data.decode("utf-8", "replace"),)
    except NotebookError:
        return frozenset()
    return frozenset(name for text in texts for name in _DEFINED.findall(text))

"""The student's bundle: stubs, lessons, visible checks and `attn`, but no solutions or hidden suites.

The finished bundle is searched for leaks. How it was made proves nothing.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from grader.authoring.encoded_texts import texts_in
from grader.authoring.leak_search import LeakSearch, searched
from grader.authoring.register import FILE
from grader.authoring.wheel import LIB, WheelError, wheel_files, write_wheel
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.engine import ENGINES, PACKAGES, ROOT, engine_files
from grader.course.golden import read_golden
from grader.course.module import Module, read_text
from grader.course.reference import PUBLISHED, published_name, reference_code
from grader.course.student_files import carried_files, files_beside, module_files, released_files

_OF_INSTRUCTORS = ("misconceptions.py", FILE)
CARRIED = f"{LIB}/cli/course"  # the course that the published wheel carries


class BundleError(Exception):
    """A bundle could not be made. No part of it is left."""


def make_bundle(course: Course, modules: Iterable[Module], to: Path, engine: str = "wheel") -> Path:
    """Make a bundle of some modules, search it for leaks, and only then move it to its new folder.

    `engine` is a key of ENGINES.
    """
    modules = tuple(dict.fromkeys(modules))
    if to.exists() and any(to.iterdir()):
        raise BundleError(f"{to} is not empty; name a new folder, or remove it first")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".bundle-") as temporary:
        made = Path(temporary) / "bundle"
        for name, data in _bundle_files(course, modules, ENGINES[engine]).items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(data)
        add_engine(course, made, engine)
        if found := list(bundle_leaks(course, made)):
            raise BundleError("the bundle would leak what students must not have: " + "; ".join(found))
        if to.exists():
            to.rmdir()
        made.rename(to)
    return to


def _bundle_files(course: Course, modules: tuple[Module, ...], engine: str) -> dict[str, bytes]:
    """Return the files of a bundle but for its wheel: its modules, and the files beside them."""
    for module in modules:
        if {read_text(module.stub), read_golden(module).stub} != {course.stub_text(module)}:
            raise BundleError(f"{module.stub} is not what the solution generates; run `attn dev build`")
    return module_files(modules) | files_beside(course, modules, engine)


def leaks(course: Course, module: Module) -> Iterator[str]:
    """Yield every place where files for students contain the solution or the hidden suite of a module."""
    released = [path for other in course.modules for path in released_files(other)]
    texts = {str(path.relative_to(course.root)): read_text(path) for path in released if path.is_file()}
    if _has_engine(course):  # a new module is its template, until its author has replaced it
        own = engine_files(course.root).items()
        texts |= {name: read_text(path) for name, path in own if "/templates/" not in name}
    yield from _leaks_in(course, [module], texts)


def bundle_leaks(course: Course, bundle: Path) -> Iterator[str]:
    """Yield every leak of a finished bundle. Every text in it is searched, and every file in its wheel."""
    files = {str(path.relative_to(bundle)): path.read_bytes() for path in _files(bundle) if path.suffix != ".whl"}
    texts = dict(text for name, data in files.items() for text in texts_in(name, data))
    yield from text_leaks(course, texts)
    for wheel in bundle.glob("*.whl"):
        yield from wheel_leaks(course, wheel)


def wheel_leaks(course: Course, wheel: Path) -> Iterator[str]:
    """Yield every leak of a wheel: a part of a solution or a hidden suite, and a file that does not belong there."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    ours = wheel_files(course.root)
    yield from _foreign_files(course, wheel.name, files, ours)
    # An engine that was installed is public. What this course's own author wrote beside the course is searched.
    private = files if _has_engine(course) else {name: data for name, data in files.items() if ours.get(name) != data}
    texts = {f"{wheel.name}/{name}": data.decode("utf-8", "replace") for name, data in private.items()}
    yield from _leaks_in(course, course.modules, texts)


def _has_engine(course: Course) -> bool:
    """Whether the course is in the clone of the engine that runs here."""
    return course.root.resolve() == ROOT


def text_leaks(course: Course, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield every leak in some texts, by their paths: files of instructors, and what is from them."""
    yield from _files_of_instructors(texts)
    yield from _leaks_in(course, course.modules, texts)


def _files_of_instructors(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if {"solutions", "hidden", PUBLISHED} & set(Path(name).parts) or Path(name).name in _OF_INSTRUCTORS:
            yield f"{name} is for instructors only"
        if name.endswith((".pyc", ".pyo")):
            yield f"{name} is compiled code, which cannot be searched"


def _leaks_in(course: Course, modules: Iterable[Module], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield every leak in some texts. A lesson may quote a line of the solution, but not two in a row."""
    for module in modules:
        search, lesson = LeakSearch(course, module), f"/{module.lesson.name}"
        for name, text in texts.items():
            least: Literal[1, 2] = 2 if f"/{name}".endswith(lesson) else 1
            found = [*search.leaks(searched(text), least), *search.names(searched(text))]
            yield from (f"{name} {leak}" for leak in found)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _foreign_files(course: Course, wheel: str, files: Mapping[str, bytes], ours: Mapping[str, bytes]) -> Iterator[str]:
    """Yield every file of a wheel that is neither an exact copy of a file of the engine nor for students."""
    has_course = any(name.startswith(CARRIED) for name in files)
    carried = {f"{CARRIED}/{name}": data for name, data in carried_files(course).items()} if has_course else {}
    for name, data in files.items():
        is_info = name.split("/")[0].endswith(".dist-info")
        if not is_info and data not in (carried.get(name), ours.get(name)):
            yield f"{wheel} contains {name}, which is not a file of {' or '.join(PACKAGES)}"


def add_engine(course: Course, folder: Path, engine: str) -> None:
    """Write the wheel into a folder for students, unless their engine is the pinned one of the package index."""
    if engine == "wheel":
        try:
            write_wheel(course.root, folder)
        except WheelError as error:
            raise BundleError(str(error)) from None


def publish_solutions(course: Course, modules: Iterable[Module], to: Path) -> list[Path]:
    """Write the references of some modules into a new folder, in the form that `attn update` takes."""
    if course.is_bundle:
        raise BundleError("this is a bundle: it has no solutions to publish")
    files = []
    for module in modules:
        path = to / published_name(module)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, reference_code(read_text(course.solution(module))))
        files.append(path)
    return files

"""The student's bundle: stubs, lessons, visible checks and `attn`, but no solutions or hidden suites.

The finished bundle is searched for leaks. How it was made proves nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from grader import __version__
from grader.authoring.bundle_texts import agents, readme, tasks
from grader.authoring.leak_search import LeakSearch, lines_of
from grader.course.course import Course
from grader.course.course_file import COURSE_FILE, read_course_file, student_side
from grader.course.module import CourseError, Module, read_text
from grader.course.notebook import raw_cells, source_of
from grader.course.reference import PUBLISHED

WHEEL = f"attnlab-{__version__}-py3-none-any.whl"
PACKAGES = ("cli", "grader")


class BundleError(Exception):
    """A bundle could not be made. No part of it is left."""


def make_bundle(course: Course, modules: Iterable[Module], to: Path) -> Path:
    """Make a bundle of some modules, search it for leaks, and only then move it to its new folder."""
    modules = tuple(dict.fromkeys(modules))
    if to.exists() and any(to.iterdir()):
        raise BundleError(f"{to} is not empty; name a new folder, or remove it first")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".bundle-") as temporary:
        made = Path(temporary) / "bundle"
        for module in modules:
            _copy_module(module, course.stub_text(module), made / "modules" / module.name)
        _write_texts(course, modules, made)
        build_wheel(course.root, made)
        if found := list(bundle_leaks(course, made)):
            raise BundleError("the bundle would leak what students must not have: " + "; ".join(found))
        if to.exists():
            to.rmdir()
        made.rename(to)
    return to


def _write_texts(course: Course, modules: tuple[Module, ...], to: Path) -> None:
    """Write what is beside the modules: the course's name, versions, README, and files for editors and assistants."""
    shutil.copy(course.root / "constraints.txt", to)
    file = read_course_file(course.root)
    (to / COURSE_FILE).write_text(student_side(file), encoding="utf-8")
    (to / "README.md").write_text(
        readme(file.about, modules, WHEEL, read_text(to / "constraints.txt")), encoding="utf-8"
    )
    (to / "AGENTS.md").write_text(agents(file), encoding="utf-8")
    (to / ".vscode").mkdir()
    (to / ".vscode" / "tasks.json").write_text(tasks(), encoding="utf-8")


def released_files(module: Module) -> list[Path]:
    """Return the files of a module that students receive."""
    named = (module.lesson, module.stub, module.checks, module.probes, module.hints, module.golden)
    return [module.folder / "module.toml", *named, *module.beside_lesson, *module.fallbacks.values()]


def leaks(course: Course, module: Module) -> Iterator[str]:
    """Yield every place where files for students contain the solution or the hidden suite of a module."""
    released = [path for other in course.modules for path in released_files(other)]
    packages = [path for name in PACKAGES for end in ("*.py", "*.txt") for path in (course.root / name).rglob(end)]
    texts = {str(path.relative_to(course.root)): read_text(path) for path in (*released, *packages) if path.is_file()}
    yield from _leaks_in(course, [module], texts)


def bundle_leaks(course: Course, bundle: Path) -> Iterator[str]:
    """Yield every leak of a finished bundle. Every text in it is searched, and every file in its wheel."""
    texts = {str(path.relative_to(bundle)): _text_of(path) for path in _files(bundle) if path.suffix != ".whl"}
    yield from _files_of_instructors(texts)
    for wheel in bundle.glob("*.whl"):
        yield from _wheel_leaks(course, wheel)
        with zipfile.ZipFile(wheel) as archive:
            texts |= {
                f"{wheel.name}/{name}": archive.read(name).decode("utf-8", "replace") for name in archive.namelist()
            }
    yield from _leaks_in(course, course.modules, texts)


def text_leaks(course: Course, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield every leak in some texts, by their paths: files of instructors, and what is from them."""
    yield from _files_of_instructors(texts)
    yield from _leaks_in(course, course.modules, texts)


def _files_of_instructors(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if {"solutions", "hidden", PUBLISHED} & set(Path(name).parts) or Path(name).name == "misconceptions.py":
            yield f"{name} is for instructors only"


def _leaks_in(course: Course, modules: Iterable[Module], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield every leak in some texts. A lesson may quote a line of the solution, but not two in a row."""
    lines = {name: lines_of(text) for name, text in texts.items()}
    for module in modules:
        search, lesson = LeakSearch(course, module), f"/{module.lesson.name}"
        for name, text in lines.items():
            yield from (f"{name} {leak}" for leak in search.leaks(text, 2 if f"/{name}".endswith(lesson) else 1))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _text_of(path: Path) -> str:
    """Return the text of a file, or of the cells of a notebook."""
    if path.suffix != ".ipynb":
        return read_text(path)
    return "\n".join(source_of(cell) for cell in raw_cells(path.read_bytes()))


def _wheel_leaks(course: Course, wheel: Path) -> Iterator[str]:
    """Yield every file of the wheel that is not an exact copy of a file of the two packages."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.split("/")[0].endswith(".dist-info"):
                continue
            original = course.root / name
            ours = name.split("/")[0] in PACKAGES and original.is_file()
            if not ours or original.read_bytes() != archive.read(name):
                yield f"{wheel.name} contains {name}, which is not a file of {' or '.join(PACKAGES)}"


def _copy_module(module: Module, stub: str, to: Path) -> None:
    to.mkdir(parents=True)
    for path in released_files(module):
        if not path.is_file():
            raise CourseError(path, "", "is missing", "Run `attn dev build` and `attn dev check`")
        shutil.copy(path, to)
    if read_text(to / module.stub.name) != stub:
        raise BundleError(f"{module.stub} is not what the solution generates; run `attn dev build`")


def build_wheel(root: Path, to: Path) -> None:
    """Build the wheel from a copy, because setuptools leaves files beside what it builds."""
    if not (root / "pyproject.toml").is_file():
        raise CourseError(root / "pyproject.toml", "", "is missing", "Release from a clone of the course")
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary)
        for name in PACKAGES:
            shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(root / name, source)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(to), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not (to / WHEEL).is_file():
        raise BundleError(f"the wheel could not be built:\n{done.stderr.strip()[-2000:]}")

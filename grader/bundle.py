"""The student's bundle: stubs, lessons, visible checks and the tool itself; nothing of the solutions or hidden suites.

That it holds nothing else is proven by its content after it is made, not assumed from how it was made.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader import __version__
from grader.course import Course
from grader.module import CourseError, Module
from grader.stubs import BEGIN, END

WHEEL = f"attnlab-{__version__}-py3-none-any.whl"
PACKAGES = ("cli", "grader")
# Shorter lines, such as `return x`, are shared by any two programs.
SHORTEST_LEAK = 12
_TEST = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


class BundleError(Exception):
    """A bundle that could not be made; nothing is left of it."""


def make_bundle(course: Course, modules: Iterable[Module], to: Path) -> Path:
    """Make a bundle of some modules in a new folder, prove it clean, and only then put it in its place."""
    modules = tuple(modules)
    if to.exists() and any(to.iterdir()):
        raise BundleError(f"{to} is not empty; name a new folder, or remove it first")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".bundle-") as temporary:
        made = Path(temporary) / "bundle"
        for module in modules:
            _copy_module(module, made / "modules" / module.name)
        (made / "README.md").write_text(_readme(modules), encoding="utf-8")
        shutil.copy(course.root / "constraints.txt", made)
        _build_wheel(course.root, made)
        if found := list(bundle_leaks(course, made)):
            raise BundleError("the bundle would give away what students must not have: " + "; ".join(found))
        if to.exists():
            to.rmdir()
        made.rename(to)
    return to


def released_files(module: Module) -> list[Path]:
    """Return the files of a module that students receive."""
    return [module.folder / "module.toml", module.lesson, module.stub, module.checks, module.golden]


def leaks(course: Course, module: Module) -> Iterator[str]:
    """Yield what the released files of a module would give away, by content."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in released_files(module) if path.is_file()}
    yield from _leaks_in(course, module, texts)


def bundle_leaks(course: Course, bundle: Path) -> Iterator[str]:
    """Yield what a finished bundle gives away: every text in it is searched, and the wheel is taken apart."""
    texts = {
        str(path.relative_to(bundle)): path.read_text(encoding="utf-8")
        for path in sorted(bundle.rglob("*"))
        if path.is_file() and path.suffix != ".whl"
    }
    for name in texts:
        if {"solutions", "hidden"} & set(Path(name).parts) or Path(name).name == "misconceptions.py":
            yield f"{name} is a file of the instructor's"
    for module in course.modules:
        yield from _leaks_in(course, module, texts)
    for wheel in bundle.glob("*.whl"):
        yield from _wheel_leaks(course, wheel)


def _leaks_in(course: Course, module: Module, texts: dict[str, str]) -> Iterator[str]:
    shown = {path.name: path.read_text(encoding="utf-8") for path in (module.stub, module.lesson) if path.is_file()}
    public = {line.strip() for text in shown.values() for line in text.splitlines()}
    secret = _solution_lines(course, module) - public
    hidden = course.hidden_suite(module)
    tests = set(_TEST.findall(hidden.read_text(encoding="utf-8"))) if hidden.is_file() else set()
    for name, text in texts.items():
        for line in text.splitlines():
            if line.strip() in secret:
                yield f"{name} holds a line of the solution of {module.name}: {line.strip()!r}"
        for test in tests & set(_TEST.findall(text)):
            yield f"{name} holds the hidden check {test} of {module.name}"


def _solution_lines(course: Course, module: Module) -> set[str]:
    """Return the longer lines of a module's solution regions."""
    lines: set[str] = set()
    inside = False
    for line in course.solution(module).read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text in (BEGIN, END):
            inside = text == BEGIN
        elif inside and len(text) >= SHORTEST_LEAK:
            lines.add(text)
    return lines


def _wheel_leaks(course: Course, wheel: Path) -> Iterator[str]:
    """Yield every file of the wheel that is not, byte for byte, one of the two packages' own."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.split("/")[0].endswith(".dist-info"):
                continue
            original = course.root / name
            ours = name.split("/")[0] in PACKAGES and original.is_file()
            if not ours or original.read_bytes() != archive.read(name):
                yield f"{wheel.name} holds {name}, which is no file of {' or '.join(PACKAGES)}"


def _copy_module(module: Module, to: Path) -> None:
    to.mkdir(parents=True)
    for path in released_files(module):
        if not path.is_file():
            raise CourseError(path, "", "is missing", "Run `attn dev build` and `attn dev check`")
        shutil.copy(path, to)


def _build_wheel(root: Path, to: Path) -> None:
    """Build the wheel from a copy: setuptools leaves its litter beside what it builds."""
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


def _readme(modules: tuple[Module, ...]) -> str:
    rows = "\n".join(f"| `{module.name}` | {module.title} | {module.minutes} min |" for module in modules)
    first = modules[0]
    return f"""# AttnLab

Build attention piece by piece, and have every piece checked. You need Python 3.11 or newer. Two commands, here:

```sh
python -m pip install -c constraints.txt {WHEEL}
attn test {first.slug}
```

The first installs the `attn` command and NumPy, once. After that everything works without a network. The second runs
the visible checks on `modules/{first.name}/{first.slug}.py`: open that file, replace each `raise NotImplementedError`
by your code, and run it again. The lesson is `modules/{first.name}/README.md`.

`attn` alone says where you are and what comes next; `attn --help` lists the rest.

| module | | |
|---|---|---|
{rows}
"""

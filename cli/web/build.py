"""The folder of a web course: made complete, searched for leaks, and only then moved to its place."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import secrets
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cli.author.site.build import page_text
from cli.web.archives import (
    COMPILED,
    course_files,
    library_files,
    numpy_files,
    page_engine_files,
    write_archive,
    write_libraries,
)
from grader.authoring.bundle import text_leaks
from grader.authoring.npm import NpmError, NpmPackage, fetch_packages, pinned_packages, unpack_package
from grader.core.errors import ENDING_WORDS
from grader.course.colour import css_of
from grader.course.course import Course
from grader.course.course_file import read_course_file
from grader.course.engine import ROOT
from grader.course.module import INTRODUCTION, Module, read_text

HERE = Path(__file__).parent
NEEDED = ("latex2mathml", "markdown_it", "mdit_py_plugins")
PYODIDE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
_RUNTIME, _NUMPY, _ESBUILD = "pyodide", "@emscripten-forge/numpy", "@esbuild/"
_BINARY = {".gz", ".wasm", ".zip"}


class WebError(Exception):
    """The folder could not be made; the text says why."""


def require_possible(course: Course, modules: Sequence[Module]) -> None:
    """Raise a WebError if a module does not run in a browser, or is none of those that the course names."""
    named = read_course_file(course.root).web
    for module in modules:
        if module.backend != "numpy":
            raise WebError(f"{module.name} needs PyTorch, which does not run in a browser. Use --bundle for it")
        if named and module.name not in named:
            raise WebError(f"{module.name} is not one of those for a browser: `web` in course.toml. Use --bundle")
    if missing := next((name for name in NEEDED if importlib.util.find_spec(name) is None), None):
        raise WebError(f"{missing} is not installed. Run: pip install 'attnlab[site]'")


def make_web(course: Course, modules: Sequence[Module], to: Path, runtime: Path | None = None) -> Path:
    """Make the folder of a web course. `runtime` keeps the packages of npm, for the next time."""
    modules = tuple(sorted(dict.fromkeys(modules), key=lambda one: one.order))
    require_possible(course, modules)
    to = to.resolve()  # the bundler runs in another folder
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".web-") as temporary:
        made = Path(temporary) / "web"
        made.mkdir()
        packages = _unpacked(runtime or Path(temporary) / "npm", Path(temporary) / "packages")
        python = _write_python(course, modules, packages, made / "python")
        _write_scripts(packages, Path(temporary) / "scripts", made)
        _write_page(course, modules, python, made)
        if found := list(web_leaks(course, made)):
            raise WebError("the folder would leak what students must not have: " + "; ".join(found))
        if to.exists():
            to.rmdir()
        made.rename(to)
    return to


def _unpacked(folder: Path, to: Path) -> dict[str, Path]:
    """Fetch and unpack all packages. Those of the editor are where the bundler looks for them."""
    packages = pinned_packages()
    try:
        fetch_packages(packages, folder)
        return {one.name: _unpack(one, folder, to) for one in packages}
    except NpmError as error:
        raise WebError(str(error)) from None


def _unpack(package: NpmPackage, folder: Path, to: Path) -> Path:
    place = to / "node_modules" / package.name
    place.parent.mkdir(parents=True, exist_ok=True)
    unpack_package(package, folder, to / "unpacked" / package.file).rename(place)
    return place


def _write_python(course: Course, modules: Sequence[Module], packages: dict[str, Path], to: Path) -> dict[str, Any]:
    """Write the runtime, NumPy, the engine and the modules; return what the page's worker must know of them."""
    to.mkdir()
    for name in PYODIDE:
        shutil.copy(packages[_RUNTIME] / name, to)
    lock = json.loads(read_text(packages[_RUNTIME] / LOCK))
    # Without the list of packages on another host: the page asks no other host for anything.
    (to / LOCK).write_text(json.dumps({"info": lock["info"], "packages": {}}), encoding="utf-8")
    engine = page_engine_files(course) | library_files()
    contents = {
        "numpy": dict(numpy_files(packages[_NUMPY])),
        "engine": {name: path.read_bytes() for name, path in engine.items()},
        "course": course_files(course, modules),
    }
    compiled = {name: data for name, data in contents["numpy"].items() if name.endswith(COMPILED)}
    contents["numpy"] = {name: data for name, data in contents["numpy"].items() if name not in compiled}
    names = {}
    for name, files in contents.items():
        write_archive(to / f"{name}.zip", files)
        names[name] = _named_by_content(to / f"{name}.zip")
    libraries = write_libraries(to / "libraries.gz", compiled)
    return {"archives": names, "libraries": {"file": _named_by_content(to / "libraries.gz"), "parts": libraries}}


def _named_by_content(path: Path) -> str:
    """Give a file a name that no other release has, so that a browser never mixes two releases."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return path.rename(path.with_name(f"{path.stem}-{digest}{path.suffix}")).name


def _write_scripts(packages: dict[str, Path], source: Path, to: Path) -> None:
    """Bundle the page's script with the editor, and copy the worker's script."""
    (esbuild,) = (path for name, path in packages.items() if name.startswith(_ESBUILD))
    program = next(path for path in (esbuild / "bin" / "esbuild", esbuild / "esbuild.exe") if path.is_file())
    shutil.copytree(HERE / "static", source)
    (source / "node_modules").symlink_to(esbuild.parents[1], target_is_directory=True)
    words = [program, source / "page.js", "--bundle", "--minify", "--format=iife", "--target=es2022"]
    words += ["--legal-comments=none", f"--outfile={to / 'page.js'}", "--log-level=error"]
    done = subprocess.run(list(map(str, words)), cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WebError(f"the page's script could not be bundled:\n{done.stderr.strip()[-2000:]}")
    shutil.copy(source / "worker.js", to)


def _write_page(course: Course, modules: Sequence[Module], python: dict[str, Any], to: Path) -> None:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from cli.web.lessons import FIGURES, figures, introduction_html, lesson_html, places  # needs the extra `site`

    pages = places(modules)
    lessons = [
        {"name": module.name, "title": module.title, "lesson": Markup(lesson_html(module, pages))} for module in modules
    ]
    introductions = [
        {"name": Path(INTRODUCTION).stem, "lesson": Markup(text)}
        for one in modules
        if (text := introduction_html(one, pages))
    ]
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    context = {"lessons": lessons, "introductions": introductions, "nonce": secrets.token_urlsafe(12)}
    data = _page_data(course, modules, python)
    text = environment.get_template("index.html").render(context, course=data)
    (to / "index.html").write_text(text, encoding="utf-8")
    style = (HERE / "static" / "page.css").read_text(encoding="utf-8")
    (to / "page.css").write_text(style + css_of(read_course_file(course.root).about.colour), encoding="utf-8")
    (to / FIGURES).mkdir()
    for module in modules:
        for name, path in figures(module).items():
            shutil.copy(path, to / FIGURES / name)


def _page_data(course: Course, modules: Sequence[Module], python: dict[str, Any]) -> dict[str, Any]:
    """Return what the page's script must know."""
    file = read_course_file(course.root)
    views = [{"name": one.name, "help": one.help, "choices": one.choices, "beside": one.beside} for one in file.views]
    entries = [
        {
            "name": module.name,
            "slug": module.slug,
            "title": module.title,
            "path": f"modules/{module.name}/{module.stub.name}",
            "stub": course.stub_text(module),
        }
        for module in modules
    ]
    return {"modules": entries, "python": python, "title": file.about.title, "views": views, "endings": ENDING_WORDS}


def web_leaks(course: Course, folder: Path) -> Iterator[str]:
    """Yield every leak of a finished folder. Every text in it is searched, and every file in its own archives.

    The runtime and NumPy are the pinned packages, whose hashes were checked.
    """
    texts = {
        path.relative_to(folder).as_posix(): page_text(read_text(path)) if path.suffix == ".html" else read_text(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in _BINARY and path.name not in PYODIDE
    }
    # An engine that was installed is public. What an author wrote beside the course is searched.
    searched = ("engine-", "course-") if course.root.resolve() == ROOT else ("course-",)
    for path in sorted((folder / "python").glob("*.zip")):
        if not path.name.startswith(searched):
            continue
        with zipfile.ZipFile(path) as archive:
            texts |= {
                f"{path.name}/{name}": archive.read(name).decode("utf-8", "replace") for name in archive.namelist()
            }
    yield from text_leaks(course, texts)

"""A newer bundle laid over a student's own: what the course gave is replaced, what the student wrote is kept."""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from grader import __version__
from grader.core.atomic_file import write_bytes_atomically
from grader.course.course import Course, read_course
from grader.course.golden import SCHEMA, read_golden
from grader.course.hints import read_hints
from grader.course.module import FOLDER, CourseError, Module, read_text
from grader.course.notebook import make_notebook
from grader.submission import archive
from grader.submission.archive import ARCHIVE, UnreadableError
from grader.workspace.progress import forget_tests

# What the course gives of a module, in words; golden.json comes last, as by it a stub is known to be untouched.
GIVEN = {
    "README.md": "lesson",
    "checks.py": "checks",
    "probes.py": "probes",
    "hints.toml": "hints",
    "module.toml": "settings",
    "golden.json": "golden file",
}
# Not `<slug>.new.py`: in a module's folder any script may be taken for a submission if the right one is missing.
BESIDE = ".new"
_KINDS = (".py", ".toml", ".md", ".json", ".txt", ".whl")
_WHEEL = re.compile(r"attnlab-(\d+(?:\.\d+)*)[^-/]*-[^/]*\.whl")


class UpdateError(Exception):
    """A bundle that cannot be taken, and why; nothing has changed."""


@dataclass(frozen=True)
class ModuleUpdate:
    """What was done to one module."""

    name: str
    is_new: bool
    updated: tuple[str, ...]  # what the course gives, in words
    renewed: tuple[str, ...]  # untouched files of the student's that are the new stub now
    kept: tuple[str, ...]  # files the student has worked in
    beside: str  # the file that holds the new stub, if a file kept was made from an older one


@dataclass(frozen=True)
class Update:
    """What was done to a course."""

    modules: tuple[ModuleUpdate, ...]
    left_alone: tuple[str, ...]  # modules that the newer bundle does not have
    others: tuple[str, ...]  # files beside `modules/`
    install: str  # the command for a tool of another version, if one came with it


@dataclass(frozen=True)
class _Write:
    """One file to be put in its place."""

    target: Path
    data: bytes
    mtime_ns: int | None = None


@dataclass(frozen=True)
class _Bundle:
    """What was found in a folder or zip: content by path below it, and the file name of its tool."""

    source: Path
    files: Mapping[str, bytes]

    @property
    def names(self) -> list[str]:
        """The modules in it."""
        return sorted({name.split("/")[1] for name in self.files if name.startswith("modules/")})

    @property
    def wheel(self) -> str:
        """The newest wheel in it."""
        wheels = [name for name in self.files if _WHEEL.fullmatch(name)]
        return max(wheels, key=_version, default="")


def update(course: Course, source: Path) -> Update:
    """Lay a newer bundle over a student's own: all of it or, on any error, nothing."""
    if not course.is_bundle:
        raise UpdateError(f"{course.root} is a clone of the full course, not a bundle: update it with `git pull`")
    bundle = _read_bundle(source, course)
    if bundle.wheel and _version(bundle.wheel) < _numbers(__version__):
        raise UpdateError(f"{source} is older than what you have: it holds {bundle.wheel}, this is {__version__}")
    place = course.root / ".attnlab"  # on the same file system, so that a replacement is one step
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix="update-") as temporary:
        staged = Path(temporary)
        newer = _validated(course, bundle, staged / "course")
        writes: list[_Write] = []
        modules = []
        for name in bundle.names:
            made, theirs = _module_update(course, newer.module(name), bundle)
            modules.append(made)
            writes += theirs
        others = list(_beside_modules(course, bundle))
        _replace_all([*writes, *others], staged / "files")
    forget_tests(course, {one.name for one in modules if {"checks", "settings"} & set(one.updated)})
    install = _install(bundle.wheel, "constraints.txt" if "constraints.txt" in bundle.files else "")
    return Update(
        tuple(modules),
        tuple(module.name for module in course.modules if module.name not in bundle.names),
        tuple(write.target.name for write in others),
        install if bundle.wheel and _version(bundle.wheel) != _numbers(__version__) else "",
    )


def _read_bundle(source: Path, course: Course) -> _Bundle:
    try:
        if source.is_dir():
            files = _from_folder(source, course)
        elif source.suffix.lower() == ARCHIVE and source.exists():
            entries = archive.read_archive(archive.read_file(source), _KINDS)
            files = _below({str(entry.path): entry.data for entry in entries})
        else:
            raise UpdateError(f"{source} is neither a folder nor a zip")
    except UnreadableError as error:
        raise UpdateError(f"{source} {error}") from None
    if any(name.startswith("solutions/") for name in files):
        raise UpdateError(f"{source} is a full course, not a bundle")
    kept = {name: data for name, data in files.items() if _is_wanted(name)}
    bundle = _Bundle(source, kept)
    if not bundle.names:
        raise UpdateError(f"{source} is no bundle: it holds no module")
    return bundle


def _from_folder(source: Path, course: Course) -> dict[str, bytes]:
    """Read what may belong to a bundle in a folder, or in the only folder in it that holds modules."""
    roots = [folder for folder in (source, *sorted(source.iterdir())) if any(folder.glob("modules/*/module.toml"))]
    if not roots or (len(roots) > 1 and roots[0] != source):
        raise UpdateError(f"{source} is no bundle: a bundle holds `modules/`")
    root = roots[0].resolve()
    if root == course.root.resolve():
        raise UpdateError(f"{source} is this course itself; name the newer bundle")
    if (root / "solutions").is_dir():
        raise UpdateError(f"{source} is a full course, not a bundle")
    paths = [path for pattern in ("*", "modules/*/*") for path in sorted(root.glob(pattern))]
    named = {path.relative_to(root).as_posix(): path for path in paths if path.is_file()}
    return {name: archive.read_file(path).data for name, path in named.items() if _is_wanted(name)}


def _below(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return files by their path below the folder that holds `modules/`: a zip may have one around it all."""
    roots = {path.parents[2] for path in map(PurePosixPath, files) if path.match("modules/*/module.toml")}
    if not roots:
        return {}
    root = min(roots, key=lambda path: len(path.parts))
    inside = {name: PurePosixPath(name) for name in files if PurePosixPath(name).is_relative_to(root)}
    return {str(path.relative_to(root)): files[name] for name, path in inside.items()}


def _is_wanted(name: str) -> bool:
    match name.split("/"):
        case ["modules", folder, file]:
            return FOLDER.fullmatch(folder) is not None and file in GIVEN
        case [file]:
            return file in ("README.md", "constraints.txt") or _WHEEL.fullmatch(file) is not None
    return False


def _validated(course: Course, bundle: _Bundle, root: Path) -> Course:
    """Return the course as it will be, set up in a folder of its own and read as any course is."""
    for module in course.modules:
        if module.name not in bundle.names:
            kept = (module.folder / "module.toml").read_bytes()
            write_bytes_atomically(root / "modules" / module.name / "module.toml", kept)
    for name, data in bundle.files.items():
        write_bytes_atomically(root / name, data)
    try:
        newer = read_course(root)
        for name in bundle.names:
            _validate(newer.module(name), bundle)
        slugs = [module.slug for module in newer.modules]
        if twin := next((slug for slug in slugs if slugs.count(slug) > 1), ""):
            names = [module.name for module in newer.modules if module.slug == twin]
            raise UpdateError(f"it would give two modules called {twin}: {' and '.join(names)}")
    except (CourseError, UpdateError, SyntaxError) as error:
        words = str(error).replace(str(root), str(bundle.source))
        raise UpdateError(f"{bundle.source} cannot be used: {words}{_newer_tool(bundle)}") from None
    return newer


def _validate(module: Module, bundle: _Bundle) -> None:
    missing = [name for name in GIVEN if f"modules/{module.name}/{name}" not in bundle.files]
    if missing:
        raise UpdateError(f"modules/{module.name} has no {', '.join(missing)}")
    read_golden(module)
    schema = json.loads(read_text(module.golden)).get("schema")
    if type(schema) is not int or schema != SCHEMA:
        age = "a newer" if type(schema) is int and schema > SCHEMA else "an older"
        raise UpdateError(f"modules/{module.name}/golden.json is of {age} kind than this attn reads")
    read_hints(module)
    read_text(module.lesson)
    for path in (module.checks, module.probes):
        ast.parse(read_text(path), str(path))


def _newer_tool(bundle: _Bundle) -> str:
    """Say what to install first, where what cannot be read may be meant for a newer tool."""
    if not bundle.wheel or _version(bundle.wheel) <= _numbers(__version__):
        return ""
    return f". It comes with a newer attn ({bundle.wheel}): install that first, then update"


def _module_update(course: Course, newer: Module, bundle: _Bundle) -> tuple[ModuleUpdate, list[_Write]]:
    """Return what becomes of one module, and the files to be written for it, golden.json last."""
    folder = course.root / "modules" / newer.name
    here = next((module for module in course.modules if module.name == newer.name), None)
    stub = read_golden(newer).stub
    own, renewed, kept, beside = _own_work(newer.slug, folder, _old_stub(here), stub)
    given = {name: bundle.files[f"modules/{newer.name}/{name}"] for name in GIVEN}
    changed = [name for name, data in given.items() if here is None or _file(here, name) != data]
    made = ModuleUpdate(newer.name, here is None, tuple(GIVEN[name] for name in changed), renewed, kept, beside)
    return made, [*own, *(_Write(folder / name, given[name]) for name in changed)]


def _own_work(
    slug: str, folder: Path, old: str | None, new: str
) -> tuple[list[_Write], tuple[str, ...], tuple[str, ...], str]:
    """Return the writes for a student's own files: the untouched are renewed, and every other one is kept."""
    writes: list[_Write] = []
    kept: list[str] = []
    up_to_date = False  # whether there is a script or notebook of the new stub without any work in it
    for path, text, read in (
        (folder / f"{slug}.py", lambda stub: stub, _script),
        (folder / f"{slug}.ipynb", lambda stub: make_notebook(stub, slug), _cells),
    ):
        if not path.is_file():
            continue
        content = read(path.read_bytes())
        if content == read(text(new).encode()):
            up_to_date = True
        elif old is not None and content == read(text(old).encode()):
            up_to_date = True
            # With its old time: which of script and notebook counts must not change.
            writes.append(_Write(path, text(new).encode(), path.stat().st_mtime_ns))
        else:
            kept.append(path.name)
    renewed = tuple(write.target.name for write in writes)
    if not kept and not up_to_date:
        writes.append(_Write(folder / f"{slug}.py", new.encode()))
    if not kept or up_to_date or old == new:
        return writes, renewed, tuple(kept), ""
    beside = next(_free(folder / f"{slug}.py{BESIDE}", {text.encode() for text in (old or new, new)}))
    return [*writes, _Write(beside, new.encode())], renewed, tuple(kept), beside.name


def _free(path: Path, ours: set[bytes]) -> Iterator[Path]:
    """Yield names at which nothing lies but a stub of ours: somebody may have written in one put there before."""
    number = 1
    while True:
        one = path if number == 1 else path.with_name(f"{path.name}{number}")
        if not one.exists() or (one.is_file() and one.read_bytes() in ours):
            yield one
        number += 1


def _old_stub(here: Module | None) -> str | None:
    try:
        return read_golden(here).stub if here else None
    except CourseError:  # then every file is taken for work: an update may be what mends the module
        return None


def _file(module: Module, name: str) -> bytes | None:
    path = module.folder / name
    return path.read_bytes() if path.is_file() else None


def _script(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _cells(data: bytes) -> Any:
    """Return every cell of a notebook with its kind, text too: notes are work; None if it cannot be read."""
    try:
        cells = json.loads(data.decode("utf-8-sig"))["cells"]
        return [(cell["cell_type"], "".join(cell["source"]).strip()) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _beside_modules(course: Course, bundle: _Bundle) -> Iterator[_Write]:
    """Yield the files beside `modules/`: a tool of another version, and a README that speaks of every module here."""
    names = []
    if bundle.wheel and _version(bundle.wheel) != _numbers(__version__):
        names += [bundle.wheel, "constraints.txt"]
    if all(module.name in bundle.names for module in course.modules):
        names.append("README.md")
    for name in names:
        path = course.root / name
        if name in bundle.files and not (path.is_file() and path.read_bytes() == bundle.files[name]):
            yield _Write(path, bundle.files[name])


def _replace_all(writes: list[_Write], staged: Path) -> None:
    """Put files in their places one by one, each whole; if one cannot be, those before it are put back."""
    for number, write in enumerate(writes):
        write_bytes_atomically(staged / str(number), write.data)
        if write.mtime_ns is not None:
            os.utime(staged / str(number), ns=(write.mtime_ns, write.mtime_ns))
    before: list[_Write] = []
    added: list[Path] = []
    try:
        for number, write in enumerate(writes):
            if write.target.exists():
                before.append(_Write(write.target, write.target.read_bytes(), write.target.stat().st_mtime_ns))
            else:
                added.append(write.target)
                write.target.parent.mkdir(parents=True, exist_ok=True)
            (staged / str(number)).replace(write.target)
    except BaseException as error:
        _put_back(before, added)
        if isinstance(error, OSError):
            raise OSError(f"{error}; nothing was changed") from error
        raise


def _put_back(before: list[_Write], added: list[Path]) -> None:
    for write in before:
        write_bytes_atomically(write.target, write.data)
        if write.mtime_ns is not None:
            os.utime(write.target, ns=(write.mtime_ns, write.mtime_ns))
    for path in added:
        path.unlink(missing_ok=True)
    for folder in {path.parent for path in added}:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _install(wheel: str, constraints: str) -> str:
    return " ".join(["python -m pip install", *(["-c", constraints] if constraints else []), wheel])


def _version(wheel: str) -> tuple[int, ...]:
    matched = _WHEEL.fullmatch(wheel)
    return _numbers(matched[1]) if matched else ()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])

"""A newer bundle, read from a folder or a zip and checked before anything is changed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader import __version__
from grader.core.atomic_file import write_bytes_atomically
from grader.core.syntax import parse
from grader.course.course import Course, read_course
from grader.course.course_file import COURSE_FILE
from grader.course.golden import SCHEMA, read_golden
from grader.course.hints import read_hints
from grader.course.module import FALLBACK, FIGURE, FOLDER, INTRODUCTION, CourseError, Module, read_text
from grader.course.reference import PUBLISHED, is_published_name
from grader.submission import archive
from grader.submission.archive import ARCHIVE, UnreadableError

# The files of a module that come from the course, and their names in messages. golden.json is written last, because it
# tells whether a stub is untouched.
MODULE_FILES = {
    "README.md": "lesson",
    "checks.py": "checks",
    "probes.py": "probes",
    "hints.toml": "hints",
    "module.toml": "settings",
    "golden.json": "golden file",
}
CONSTRAINTS = "constraints.txt"
README, AGENTS = "README.md", "AGENTS.md"
BESIDE = (README, AGENTS, CONSTRAINTS, COURSE_FILE)  # of a bundle, beside its modules and its wheel
_ROOTS = ("modules/*/module.toml", f"{PUBLISHED}/*.txt")  # what a bundle, or a folder with solutions, has
_KINDS = (".py", ".toml", ".md", ".json", ".svg", ".txt", ".whl")
_WHEEL = re.compile(r"attnlab-(\d+(?:\.\d+)*)[^-/]*-[^/]*\.whl")


class UpdateError(Exception):
    """A bundle that cannot be used, and why. Nothing has changed."""


@dataclass(frozen=True)
class NewerBundle:
    """The files of a bundle, by their path in it."""

    source: Path
    files: Mapping[str, bytes]

    @property
    def module_names(self) -> list[str]:
        """The names of its modules."""
        return sorted({name.split("/")[1] for name in self.files if name.startswith("modules/")})

    @property
    def published(self) -> list[str]:
        """The paths of the solutions that it publishes."""
        return sorted(name for name in self.files if is_published_name(name))

    @property
    def wheel(self) -> str:
        """The file name of its newest attn; empty if it has none."""
        wheels = [name for name in self.files if _WHEEL.fullmatch(name)]
        return max(wheels, key=_wheel_version, default="")

    @property
    def has_older_tool(self) -> bool:
        """Whether its attn is older than this one."""
        return bool(self.wheel) and _wheel_version(self.wheel) < version_of(__version__)

    @property
    def has_newer_tool(self) -> bool:
        """Whether its attn is newer than this one."""
        return bool(self.wheel) and _wheel_version(self.wheel) > version_of(__version__)

    @property
    def install_command(self) -> str:
        """The command that installs its attn."""
        constraints = ["-c", CONSTRAINTS] if CONSTRAINTS in self.files else []
        return " ".join(["python -m pip install", *constraints, self.wheel])


def read_bundle(source: Path, course: Course) -> NewerBundle:
    """Read the files of a bundle from a folder or a zip."""
    try:
        if source.is_dir():
            files = _files_in_folder(source, course)
        elif source.suffix.lower() == ARCHIVE and source.exists():
            entries = archive.read_archive(archive.read_file(source), _KINDS)
            files = _without_outer_folder({str(entry.path): entry.data for entry in entries})
        else:
            raise UpdateError(f"{source} is neither a folder nor a zip")
    except UnreadableError as error:
        raise UpdateError(f"{source} {error}") from None
    if any(name.startswith("solutions/") for name in files):
        raise UpdateError(f"{source} is a full course, not a bundle")
    bundle = NewerBundle(source, {name: data for name, data in files.items() if _is_wanted(name)})
    if not bundle.module_names and not bundle.published:
        raise UpdateError(f"{source} is not a bundle: it has no modules")
    if bundle.has_older_tool:
        raise UpdateError(f"{source} is older than your copy: it has {bundle.wheel}, and you have attn {__version__}")
    return bundle


def stage_course(course: Course, bundle: NewerBundle, root: Path) -> Course:
    """Write the updated course into a folder of its own, check it, and return it."""
    for module in course.all_modules:
        if module.name not in bundle.module_names:
            for path in (module.folder / "module.toml", *module.fallbacks.values()):
                write_bytes_atomically(root / "modules" / module.name / path.name, path.read_bytes())
    for name, data in bundle.files.items():
        write_bytes_atomically(root / name, data)
    try:
        newer = read_course(root)
        for name in bundle.module_names:
            _check_module(newer.module(name), bundle)
        _check_slugs(newer)
    except (CourseError, UpdateError, SyntaxError) as error:
        reason = str(error).replace(str(root), str(bundle.source))
        # A bundle that this attn cannot read may be meant for the newer one that comes with it.
        hint = f". It comes with a newer attn ({bundle.wheel}): install that first, then update"
        raise UpdateError(f"{bundle.source} cannot be used: {reason}{hint if bundle.has_newer_tool else ''}") from None
    return newer


def _files_in_folder(source: Path, course: Course) -> dict[str, bytes]:
    """Read the files of a bundle from a folder, or from the only folder inside it that has modules."""
    folders = (source, *sorted(source.iterdir()))
    roots = [folder for folder in folders if any(any(folder.glob(pattern)) for pattern in _ROOTS)]
    if not roots or (len(roots) > 1 and roots[0] != source):
        raise UpdateError(f"{source} is not a bundle: it has no folder `modules/`")
    root = roots[0].resolve()
    if root == course.root.resolve():
        raise UpdateError(f"{source} is this course itself. Give the path of the newer bundle")
    if (root / "solutions").is_dir():
        raise UpdateError(f"{source} is a full course, not a bundle")
    paths = [path for pattern in ("*", "modules/*/*", f"{PUBLISHED}/*") for path in sorted(root.glob(pattern))]
    named = {path.relative_to(root).as_posix(): path for path in paths if path.is_file()}
    return {name: archive.read_file(path).data for name, path in named.items() if _is_wanted(name)}


def _without_outer_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files by their path below the folder that has `modules/`: a zip may have an outer folder."""
    roots = {path.parents[2] for path in map(PurePosixPath, files) if path.match("modules/*/module.toml")}
    roots = roots or {path.parents[1] for path in map(PurePosixPath, files) if path.match(f"{PUBLISHED}/*.txt")}
    if not roots:
        return {}
    root = min(roots, key=lambda path: len(path.parts))
    inside = {name: PurePosixPath(name) for name in files if PurePosixPath(name).is_relative_to(root)}
    return {str(path.relative_to(root)): files[name] for name, path in inside.items()}


def _is_wanted(name: str) -> bool:
    match name.split("/"):
        case ["modules", folder, file]:
            known = file in MODULE_FILES or FALLBACK.fullmatch(file) is not None or is_beside_lesson(file)
            return FOLDER.fullmatch(folder) is not None and known
        case ["published", _]:
            return is_published_name(name)
        case [file]:
            return file in BESIDE or _WHEEL.fullmatch(file) is not None
    return False


def is_beside_lesson(file: str) -> bool:
    """Whether a file of a module is a figure, or what to read before the lesson."""
    return file == INTRODUCTION or FIGURE.fullmatch(file) is not None


def _check_module(module: Module, bundle: NewerBundle) -> None:
    missing = [name for name in MODULE_FILES if f"modules/{module.name}/{name}" not in bundle.files]
    if missing:
        raise UpdateError(f"modules/{module.name} has no {', '.join(missing)}")
    read_golden(module)
    schema = json.loads(read_text(module.golden)).get("schema")
    if type(schema) is not int or schema != SCHEMA:
        age = "a newer" if type(schema) is int and schema > SCHEMA else "an older"
        raise UpdateError(f"modules/{module.name}/golden.json has {age} format than this attn can read")
    read_hints(module)
    read_text(module.lesson)
    for path in (module.checks, module.probes, *module.fallbacks.values()):
        parse(read_text(path), str(path))


def _check_slugs(course: Course) -> None:
    slugs = [module.slug for module in course.modules]
    if twin := next((slug for slug in slugs if slugs.count(slug) > 1), ""):
        names = [module.name for module in course.modules if module.slug == twin]
        raise UpdateError(f"there would be two modules called {twin}: {' and '.join(names)}")


def _wheel_version(wheel: str) -> tuple[int, ...]:
    matched = _WHEEL.fullmatch(wheel)
    return version_of(matched[1]) if matched else ()


def version_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a version, to compare."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])

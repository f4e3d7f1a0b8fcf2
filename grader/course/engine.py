"""The engine that runs here: its files, the course that came with it, and the versions of what it stands on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader import __version__
from grader.course.course_file import read_course_file

ROOT = Path(__file__).resolve().parents[2]  # the folder of `grader` and `cli`: in a clone, or in an installed package
PACKAGES = ("cli", "grader")
WHEEL = f"attnlab-{__version__}-py3-none-any.whl"
# How students get `attn`, and what pip installs: a wheel in the release, or this version from the package index.
ENGINES = {"wheel": WHEEL, "pinned": f"attnlab=={__version__}"}
CONSTRAINTS = "constraints.txt"
_CARRIED = "cli/course"  # of the package: the course that `attn init` takes
_INSTALLED = "cli/installed"  # of a clone: what pip installs as `attnlab`
_KINDS = frozenset((".py", ".css", ".html", ".ini", ".js", ".sh", ".sql", ".toml", ".txt"))


def carried_root() -> Path | None:
    """Return the folder of the course that came with this engine, or that it stands beside; None if it has none."""
    return next((one for one in (ROOT / _CARRIED, ROOT) if (one / "modules").is_dir()), None)


def engine_files(course_root: Path) -> dict[str, Path]:
    """Return the files of the engine by their paths below its root, without what only another course shows."""
    carried = carried_root()
    others = (_view_folders(carried) if carried else set()) - _view_folders(course_root)
    left_out = tuple(f"{name}/" for name in (*others, _CARRIED, _INSTALLED))
    found = {path.relative_to(ROOT).as_posix(): path for top in PACKAGES for path in sorted((ROOT / top).rglob("*"))}
    return {name: path for name, path in found.items() if _is_ours(path) and not name.startswith(left_out)}


def start_files() -> dict[str, Path]:
    """Return the files of the package `attnlab`, which starts the engine, by their names."""
    folder = ROOT / _INSTALLED if (ROOT / _INSTALLED).is_dir() else ROOT.parent
    return {path.name: path for path in sorted(folder.glob("*.py"))}


def versions_for(course_root: Path) -> str:
    """Return the exact versions a course is graded with: those of its constraints.txt, or those installed here."""
    path = course_root / CONSTRAINTS
    return path.read_text(encoding="utf-8") if path.is_file() else "".join(f"{line}\n" for line in _installed())


def _is_ours(path: Path) -> bool:
    return path.suffix in _KINDS and "__pycache__" not in path.parts and path.is_file()


def _view_folders(course_root: Path) -> set[str]:
    """Return the folders of the package that a course takes its views from."""
    views = (view.module.split(".") for view in read_course_file(course_root).views)
    return {"/".join(parts[:2]) for parts in views if parts[0] in PACKAGES}


def _installed() -> Iterator[str]:
    """Yield the version of every library that the engine needs, as it is installed here."""
    from importlib.metadata import PackageNotFoundError, distribution  # only releases need them

    from packaging.requirements import Requirement  # pytest needs it, so it is there
    from packaging.utils import canonicalize_name

    found: dict[str, str] = {}
    waiting = ["attnlab"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:  # needed on another system only
            continue
        found[name] = package.version.partition("+")[0]  # what follows names a build, which other systems do not have
        needs = [Requirement(text) for text in package.requires or ()]
        waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
        if name == "attnlab":
            found["torch"] = _version_of_torch()
    found.pop("attnlab", None)
    yield from (f"{name}=={version}" for name, version in sorted(found.items()) if version)


def _version_of_torch() -> str:
    """Return the version of PyTorch, which is optional; an empty text if it is not here."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch").partition("+")[0]
    except PackageNotFoundError:
        return ""

"""A new workspace: what a student's bundle gives, made from the course that an installed AttnLab carries."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from grader import __version__
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.student_files import files_beside, module_files
from grader.workspace.update import Update, take_bundle
from grader.workspace.update_bundle import NewerBundle, UpdateError, version_of

# What may be in a folder already: it is not ours, and it stays.
KEPT = frozenset(
    (".git", ".gitignore", ".gitattributes", ".venv", "venv", ".python-version", ".idea", ".DS_Store")
    + ("pyproject.toml", "uv.lock", "LICENSE")
)
MARK = ".attnlab/installed"  # the version that a workspace is from; without it, it is from a bundle


class InitError(Exception):
    """A folder that cannot become a workspace, and why. Nothing has changed."""


def make_workspace(carried: Course, to: Path) -> list[str]:
    """Make a workspace in a new or empty folder and return the paths of its files. On any error nothing changes."""
    require_room(to)
    files = workspace_files(carried) | {MARK: __version__.encode()}
    to.parent.mkdir(parents=True, exist_ok=True)
    is_new = not to.exists()
    # In the folder itself if there is one: a shell may be in it, so that it cannot be replaced.
    with tempfile.TemporaryDirectory(dir=to.parent if is_new else to, prefix=".attn-init-") as temporary:
        made = Path(temporary) / "workspace"
        for name, data in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(data)
        if is_new:
            made.rename(to)
        else:
            _move_in(made, to)
    return sorted(files)


def require_room(to: Path) -> None:
    """Raise an InitError unless the folder is new, or has only what a workspace leaves alone."""
    if to.exists() and not to.is_dir():
        raise InitError(f"{to} is a file. Name a new folder: attn init DIR")
    if not to.exists():
        return
    if (to / "modules").is_dir():
        raise InitError(f"{to} already has a course. Run `attn` in it; `attn update` takes newer lessons and checks")
    if other := sorted(path.name for path in to.iterdir() if path.name not in KEPT):
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        raise InitError(f"{to} is not empty: it has {shown}. Name a new folder: attn init DIR")


def workspace_files(carried: Course) -> dict[str, bytes]:
    """Return every file that a workspace gets from the course: those of a bundle of all modules, without a wheel."""
    return module_files(carried.all_modules) | files_beside(carried, carried.modules, "")


def update_from_installed(carried: Course, course: Course) -> Update:
    """Update a workspace that `attn init` made from the course that is installed now. On any error nothing changes."""
    mark = course.root / MARK
    if not mark.is_file():
        raise UpdateError("name the newer bundle: attn update week2.zip. Only what `attn init` made needs none")
    made_by = mark.read_text(encoding="utf-8", errors="replace")
    if version_of(made_by) > version_of(__version__):
        raise UpdateError(f"this course is from AttnLab {made_by}, which is newer than this attn, {__version__}")
    done = take_bundle(course, NewerBundle(carried.root, workspace_files(carried)))
    write_atomically(mark, __version__)
    return done


def _move_in(made: Path, to: Path) -> None:
    """Move what was made into the folder, `modules` last: before that, it is no course."""
    moved: list[Path] = []
    try:
        for path in sorted(made.iterdir(), key=lambda path: path.name == "modules"):
            path.rename(to / path.name)
            moved.append(to / path.name)
    except BaseException:
        for path in moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise

"""A new workspace: what a student's bundle gives, made from the course that an installed AttnLab carries."""

from __future__ import annotations

from pathlib import Path

from grader import __version__
from grader.core.atomic_file import write_atomically
from grader.core.new_folder import FolderError, new_folder, require_room
from grader.course.course import Course
from grader.course.student_files import files_beside, module_files
from grader.workspace.update import Update, take_bundle
from grader.workspace.update_bundle import NewerBundle, UpdateError, version_of

MARK = ".attnlab/installed"  # the version that a workspace is from; without it, it is from a bundle


def make_workspace(carried: Course, to: Path) -> list[str]:
    """Make a workspace in a new or empty folder and return the paths of its files. On any error nothing changes."""
    if (to / "modules").is_dir():
        raise FolderError(f"{to} already has a course. Run `attn` in it; `attn update` takes newer lessons and checks")
    require_room(to, "attn init")
    files = workspace_files(carried) | {MARK: __version__.encode()}
    with new_folder(to, last="modules") as made:  # without modules, it is no course
        for name, data in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(data)
    return sorted(files)


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

"""Releases: assignments in an nbgrader course directory, made by nbgrader's own generate_assignment.

A release is made in a temporary folder and checked for leaks. Only then does it replace what is there.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grader.authoring.bundle import add_engine, bundle_leaks
from grader.course.course import Course
from grader.course.engine import ENGINES
from grader.course.module import Module
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.assignment import assignment_cells, source_notebook
from grader.platforms.nbgrader.course_dir import CONFIG
from grader.platforms.nbgrader.gradebook import open_gradebook

STEPS = ("source", "release")
KEPT = "replaced"  # the folder for sources of earlier releases


@dataclass(frozen=True)
class Released:
    """An assignment as students receive it."""

    module: Module
    folder: Path
    points: float  # automatic
    open_points: float  # manual


class ReleaseError(Exception):
    """A release that could not be made; the earlier one is unchanged."""


def release_modules(
    course: Course,
    modules: Sequence[Module],
    root: Path,
    *,
    due: datetime | None = None,
    force: bool = False,
    engine: str = "wheel",
) -> list[Released]:
    """Release modules into a course directory."""
    config = require_place(course, modules, root, force=force)
    with tempfile.TemporaryDirectory(dir=root, prefix=".release-") as temporary:
        staging = Path(temporary)
        add_engine(course, staging, engine)
        released = [_release(course, module, config, staging, ENGINES[engine]) for module in modules]
    if due is not None:
        coursedir = CourseDirectory(config=config)
        with open_gradebook(coursedir.db_url, coursedir.course_id) as book:
            for module in modules:
                book.update_or_create_assignment(module.name, duedate=due.astimezone(UTC).replace(tzinfo=None))
    return released


def require_place(course: Course, modules: Sequence[Module], root: Path, *, force: bool = False) -> Config:
    """Return the configuration of a course directory; CourseDirError if the modules cannot be released into it."""
    config = read_config(root)
    owner = Path(str(config.AttnLab.get("course", "")))
    if owner.resolve() != course.root.resolve():
        raise CourseDirError(f"{root} belongs to the course in {owner}, not to the one in {course.root}")
    for module in modules:
        ids = {cell.grade_id for cell in assignment_cells(course, module) if cell.grade_id}
        _require_fit(CourseDirectory(config=config), module, ids, force=force)
    return config


def read_config(root: Path) -> Config:
    """Return the nbgrader configuration of a course directory."""
    if not (root / CONFIG).is_file():
        raise CourseDirError(f"{root} is not an nbgrader course directory. To make one, run: attn course init {root}")
    config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    if "AttnLab" not in config:
        raise CourseDirError(f"{root / CONFIG} does not mention AttnLab. `attn course init` makes one that does")
    return config


def _release(course: Course, module: Module, config: Config, staging: Path, engine: str) -> Released:
    coursedir = CourseDirectory(config=config)
    cells = assignment_cells(course, module)
    places = {step: Path(coursedir.format_path(step, ".", module.name)) for step in STEPS}
    made = {step: staging / step / module.name for step in STEPS}
    _write_source(course, module, made["source"], staging, engine)
    coursedir.source_directory = str(staging / "source")
    coursedir.release_directory = str(staging / "release")
    coursedir.assignment_id = module.name
    result = capture_log(GenerateAssignment(coursedir=coursedir, config=config))
    if not result["success"]:
        raise ReleaseError(f"nbgrader could not make {module.name}:\n{result.get('log', result.get('error'))}")
    if found := list(bundle_leaks(course, made["release"])):
        raise ReleaseError("the release would contain what students must not see: " + "; ".join(found))
    _replace(places["source"], made["source"], _place_for_old_source(Path(coursedir.root), module))
    _replace(places["release"], made["release"], staging / f"replaced-{module.name}")
    points = {role: sum(cell.points for cell in cells if cell.role == role) for role in ("test", "open")}
    return Released(module, places["release"], points["test"], points["open"])


def _write_source(course: Course, module: Module, to: Path, staging: Path, engine: str) -> None:
    to.mkdir(parents=True)
    (to / f"{module.slug}.ipynb").write_text(source_notebook(course, module, engine), encoding="utf-8")
    # The notebook imports a fallback where the student has no module of their own.
    for path in (module.lesson, *module.beside_lesson, *module.fallbacks.values()):
        shutil.copy(path, to)
    for wheel in staging.glob("*.whl"):
        shutil.copy(wheel, to)


def _require_fit(coursedir: Any, module: Module, ids: set[str], *, force: bool) -> None:
    """Raise an error if a release would not fit the existing submissions."""
    folders = Path(coursedir.root).glob(f"{coursedir.submitted_directory}/*/{module.name}")
    students = {folder.parent.name for folder in folders}
    released = ids
    with open_gradebook(coursedir.db_url, coursedir.course_id) as book, contextlib.suppress(MissingEntry):
        row = book.find_notebook(module.slug, module.name)
        graded = {one.student.id for one in row.submissions}
        students |= graded
        released = {cell.name for cell in row.source_cells} if graded else ids
    if released != ids:
        changed = ", ".join(sorted(released ^ ids))
        raise CourseDirError(f"{module.name} has already been graded with different cells: {changed}")
    if students and not force:
        names = ", ".join(sorted(students)[:3]) + (", ..." if len(students) > 3 else "")
        problem = f"{module.name} has already been submitted by {names}"
        raise CourseDirError(f"{problem}. To release it again anyway, use --force: submissions and scores stay")


def _replace(place: Path, new: Path, place_for_old: Path) -> None:
    """Move a folder to its place, and the folder that is there to another place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place_for_old.parent.mkdir(parents=True, exist_ok=True)
        place.rename(place_for_old)
    new.rename(place)


def _place_for_old_source(root: Path, module: Module) -> Path:
    """Return a new path for a replaced source, which is kept because the instructor may have edited it."""
    numbers = itertools.count(1)
    return next(path for number in numbers if not (path := root / KEPT / f"{module.name}-{number}").exists())

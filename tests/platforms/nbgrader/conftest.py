"""Course directories of real nbgrader, with its own commands to be run in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from grader.course.course import Course
from grader.platforms.nbgrader.course_dir import CONFIG, init_course_dir
from grader.platforms.nbgrader.release import read_config, release_modules
from tests.platforms.nbgrader.students import MODULE, Notebook

Nbgrader = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def released(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course directory with the first module released; not to be changed."""
    root = tmp_path_factory.mktemp("nbgrader") / "attention"
    init_course_dir(course, root)
    release_modules(course, course.modules[:1], root)
    return root


@pytest.fixture
def course_dir(released: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(released, tmp_path / "attention")


@pytest.fixture
def notebook(released: Path) -> Notebook:
    """The notebook that students were given."""
    return Notebook(released / "release" / MODULE / "softmax.ipynb")


@pytest.fixture(scope="session")
def nbgrader(tmp_path_factory: pytest.TempPathFactory) -> Nbgrader:
    """Run one of nbgrader's own commands in a course directory, in a process of its own."""
    home = tmp_path_factory.mktemp("home")

    def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nbgrader", *arguments]
        # No configuration but the course directory's own.
        env = {**os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home), "JUPYTER_NO_CONFIG": ""}
        return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)

    return run


def autograde(root: Path, student: str, **settings: Any) -> dict[str, Any]:
    """Autograde one submission as formgrader's button does, and return what it shows: success, log and error."""
    config = read_config(root)
    config.AttnLab.update(settings)
    with warnings.catch_warnings():
        # What SQLAlchemy thinks of nbgrader's own way to add a submission.
        warnings.filterwarnings("ignore", "Object of type <Submitted(Assignment|Notebook)> not in session")
        api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
        result: dict[str, Any] = api.autograde(MODULE, student)
    return result


@contextmanager
def gradebook(root: Path) -> Iterator[Any]:
    """Open the gradebook of a course directory, as anybody who uses nbgrader does."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as book:
        yield book


def scores(root: Path, module: str = MODULE) -> dict[str, float | None]:
    """Return the automatic score of every student; None where any of it is missing."""
    with gradebook(root) as book:
        found = {}
        for submission in book.assignment_submissions(module):
            parts = [grade.auto_score for grade in submission.notebooks[0].grades if grade.name.startswith("test-")]
            found[submission.student.id] = None if None in parts else round(sum(parts), 6)
        return found


def reconfigure(root: Path, old: str, new: str) -> None:
    """Change a line of a course directory's configuration."""
    text = (root / CONFIG).read_text()
    assert old in text
    (root / CONFIG).write_text(text.replace(old, new))

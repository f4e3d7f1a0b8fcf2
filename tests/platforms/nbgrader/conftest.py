"""Course directories of real nbgrader, and functions to run its commands in them."""

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

from cli.main import run
from grader.course.course import Course
from grader.platforms.nbgrader.course_dir import CONFIG, init_course_dir
from grader.platforms.nbgrader.release import read_config, release_modules
from tests.conftest import ROOT
from tests.platforms.nbgrader.students import MODULE, Notebook

Nbgrader = Callable[..., "subprocess.CompletedProcess[str]"]
AttnHere = Callable[..., tuple[int, str, str]]  # the exit status, and what was printed on the two streams


@pytest.fixture(scope="session")
def released(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course directory with the first module released, which no test may change."""
    root = tmp_path_factory.mktemp("nbgrader") / "attention"
    init_course_dir(course, root)
    release_modules(course, course.modules[:1], root)
    return root


@pytest.fixture
def course_dir(released: Path, tmp_path: Path) -> Path:
    """A copy of the course directory that a test may change."""
    return shutil.copytree(released, tmp_path / "attention")


@pytest.fixture
def notebook(released: Path) -> Notebook:
    """The notebook that was released to students."""
    return Notebook(released / "release" / MODULE / "softmax.ipynb")


@pytest.fixture(scope="session")
def nbgrader(tmp_path_factory: pytest.TempPathFactory) -> Nbgrader:
    """Run a command of nbgrader in a course directory, in its own process."""
    home = tmp_path_factory.mktemp("home")

    def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nbgrader", *arguments]
        # Use only the configuration of the course directory.
        env = {**os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home), "JUPYTER_NO_CONFIG": ""}
        return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)

    return run


def autograde(root: Path, student: str, **settings: Any) -> dict[str, Any]:
    """Autograde one submission as formgrader's button does; return success, log and error."""
    config = read_config(root)
    config.AttnLab.update(settings)
    with warnings.catch_warnings():
        # A warning of SQLAlchemy about the way in which nbgrader adds a submission.
        warnings.filterwarnings("ignore", "Object of type <Submitted(Assignment|Notebook)> not in session")
        api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
        result: dict[str, Any] = api.autograde(MODULE, student)
    return result


@contextmanager
def gradebook(root: Path) -> Iterator[Any]:
    """Open the gradebook of a course directory through nbgrader's API."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as book:
        yield book


def scores(root: Path, module: str = MODULE) -> dict[str, float | None]:
    """Return the automatic score of every student; None if a part of it is missing."""
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


@pytest.fixture
def attn_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> AttnHere:
    """Run `attn` in this process, for mistakes that it refuses at once: another one would import nbgrader again."""

    def run_here(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", ["attn", *arguments])
        status = run()
        return status, *capsys.readouterr()

    return run_here

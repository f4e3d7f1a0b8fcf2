"""A tiny course, and the command that grades a class in it within a second."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.course import Course
from tests.cli.conftest import run_attn

RIGHT = "def tiny(x):\n    return x + x\n"
SQUARE = "def tiny(x):\n    return x ** 2\n"
HALF = "def tiny(x):\n    x *= 2\n    return x\n"

Grade = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tiny(built: Course, tmp_path: Path) -> Path:
    """A copy of the tiny course that a test may change."""
    return Path(shutil.copytree(built.root, tmp_path / "tiny"))


@pytest.fixture
def grade(tiny: Path) -> Grade:
    """Run `attn grade` in the tiny course."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return run_attn("grade", *arguments, "--allow-unjailed", cwd=tiny)

    return run

"""`attn` in a process of its own, as a user runs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

Attn = Callable[..., "subprocess.CompletedProcess[str]"]
EXECUTABLE = str(Path(sys.executable).with_name("attn"))


@pytest.fixture(scope="session")
def attn() -> Attn:
    """Run `attn` in a folder, and return its output and its exit status."""

    def run(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run([EXECUTABLE, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The folders of a bundle, without its wheel."""
    shutil.copytree(ROOT / "modules", tmp_path / "modules")
    shutil.copy(ROOT / "course.toml", tmp_path)
    return tmp_path

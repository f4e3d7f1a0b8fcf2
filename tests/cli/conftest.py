"""`attn` run as a person runs it: a process of its own."""

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
    """Run `attn` with some arguments in some folder, and return how it ended."""

    def run(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run([EXECUTABLE, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The folders of a bundle, without its wheel."""
    shutil.copytree(ROOT / "modules", tmp_path / "modules")
    return tmp_path

"""`attn` in a process of its own, as a user runs it. On Linux that is a copy of one that has imported it already."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.cli.command_server import CAN_FORK, CommandServer
from tests.conftest import ROOT

Attn = Callable[..., "subprocess.CompletedProcess[str]"]
EXECUTABLE = str(Path(sys.executable).with_name("attn"))


@cache
def _server() -> CommandServer:
    server = CommandServer(EXECUTABLE)
    atexit.register(server.close)
    return server


def run_attn(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run `attn` in a folder, and return its output and its exit status."""
    words = [*map(str, arguments)]
    if CAN_FORK:
        return _server().run(words, cwd)
    return subprocess.run([EXECUTABLE, *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def attn() -> Attn:
    """Run `attn` in a folder, and return its output and its exit status."""
    return run_attn


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The folders of a bundle, without its wheel."""
    shutil.copytree(ROOT / "modules", tmp_path / "modules")
    shutil.copy(ROOT / "course.toml", tmp_path)
    return tmp_path

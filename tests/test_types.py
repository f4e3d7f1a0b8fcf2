"""The types of the project are sound. mypy needs a core for a minute, so it runs beside the other tests."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT


def test_mypy_finds_nothing() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

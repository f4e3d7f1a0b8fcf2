"""The example term with real nbgrader: its checks pass, and the docs show its output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, tier_here


@pytest.mark.exhaustive
def test_the_example_term_prints_what_the_docs_show(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "term.py"), str(tmp_path / "played")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("all checks passed")
    shown = done.stdout.strip().replace(f"(sandbox: {tier_here()})", "(sandbox: strict)")
    assert f"```text\n{shown}\n```" in (ROOT / "docs" / "nbgrader.md").read_text()

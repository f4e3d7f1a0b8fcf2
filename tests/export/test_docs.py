"""The commands of docs/export.md, one after the other as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "export.md"
PARTS = ("modules", "solutions", "tests/hidden", "examples", "constraints.txt")


def test_every_command_runs(tmp_path: Path) -> None:
    for name in PARTS:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    environment = {**os.environ, "PATH": f"{Path(EXECUTABLE).parent}:{os.environ['PATH']}"}
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    for line in "".join(blocks).splitlines():
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        said = re.search(r"# exit status (\d)", line)
        assert done.returncode == (int(said[1]) if said else 0), f"{line}\n{done.stdout}{done.stderr}"

"""A stand-in for Gradescope's machine: its folders, root, no namespaces, and its amount of memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.platforms.gradescope.package import unpack
from tests.acceptance.attacks.surroundings import command, without_namespaces
from tests.conftest import ROOT

MEMORY_MB = 768
WORKER_MB = 544  # the rest, for a worker of a NumPy module


class Platform:
    """A folder laid out like /autograder. It uses the Python of this environment, not that of setup.sh."""

    def __init__(self, data: bytes) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="attnlab-autograder-"))
        self.root.chmod(0o755)
        unpack(data, self.root)
        metadata = {"id": 1, "created_at": "2026-10-01T12:00:00.000000-07:00", "users": [{"name": "Ana", "id": 7}]}
        (self.root / "submission_metadata.json").write_text(json.dumps(metadata))

    @property
    def course(self) -> Path:
        return self.root / "source" / "course"

    def run(self, files: dict[str, str | bytes], **environment: str) -> dict[str, Any]:
        """Submit files and return the content of results.json; keep the exit status and the log."""
        shutil.rmtree(self.root / "submission")
        shutil.rmtree(self.root / "results")
        for name in ("submission", "results"):
            (self.root / name).mkdir()
        for name, content in files.items():
            path = self.root / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        words = without_namespaces("prlimit", f"--data={MEMORY_MB << 20}", "bash", str(self.root / "run_autograder"))
        if os.geteuid() == 0:
            words = command("root in an open home", *words)
        done = subprocess.run(
            words,
            cwd=ROOT,
            env={
                **os.environ,
                "AUTOGRADER_ROOT": str(self.root),
                "ATTNLAB_PYTHON": sys.executable,
                "ATTNLAB_WORKER_MB": str(WORKER_MB),
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.code, self.log = done.returncode, done.stdout + done.stderr
        results: dict[str, Any] = json.loads((self.root / "results" / "results.json").read_text())
        return results

    def close(self) -> None:
        shutil.rmtree(self.root)

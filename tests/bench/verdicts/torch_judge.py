"""torch-judge as a user runs it: `check` on a namespace that has the submission. Installed into .bench/, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.peers.environment import FOLDER, NoPeersError

VERSION = "0.1.1"
PACKAGES = FOLDER / f"torch-judge-{VERSION}"
# Runs beside torch-judge. It prints one line at the end: which submissions were accepted.
PROGRAM = """
import contextlib, io, json, sys
from torch_judge import check

def accepted(task, text):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(text + f"\\nfrom torch_judge import check\\ncheck({task!r})\\n", "<submission>", "exec"), {})
    return "tests passed!" in said.getvalue()

print(json.dumps([accepted(task, text) for task, text in json.load(sys.stdin)]))
"""


def accepted_by_torch_judge(submissions: Sequence[tuple[str, str]], scratch: Path) -> list[bool]:
    """Return for each task and submission whether all tests of torch-judge pass."""
    _install()
    # It keeps a file of what was solved; ours must not end up in the project.
    environment = os.environ | {"PYTHONPATH": str(PACKAGES), "PROGRESS_PATH": str(scratch / "progress.json")}
    words = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        words, input=json.dumps(submissions), cwd=scratch, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NoPeersError(f"torch-judge did not run: {done.stderr[-300:]}")
    return [bool(one) for one in json.loads(done.stdout.splitlines()[-1])]


def _install() -> None:
    if PACKAGES.is_dir():
        return
    print("==> installing torch-judge into .bench/ (once)", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(PACKAGES)]
    done = subprocess.run([*pip, f"torch-judge=={VERSION}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPeersError(f"torch-judge could not be installed into .bench/: {done.stderr[-300:]}")
